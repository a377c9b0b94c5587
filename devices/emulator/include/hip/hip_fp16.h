// Half precision: the names and meanings of CUDA (HIP Math API).
#pragma once
#include "../cuda_fp16.h"
