// What nvcc includes by itself, and what <cuda_runtime.h> gives.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>

#include "xp/types.h"
#include "xp/simt.h"
#include "xp/math.h"
#include "xp/cuda_api.h"
#include "xp/vectors.h"
