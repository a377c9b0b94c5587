#pragma once
#include "../hip_cooperative_groups.h"
