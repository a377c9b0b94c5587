// Groups: the names and meanings of CUDA; a tile may have 64 threads (HIP Programming Guide, "Cooperative Groups").
#pragma once
#include "../cooperative_groups.h"
