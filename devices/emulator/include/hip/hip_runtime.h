// What <hip/hip_runtime.h> gives. Lanes of a wavefront run in lock step, and masks of lanes have 64 bits whatever its size.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>

#define XP_LANE_MASK unsigned long long
#define XP_LOCKSTEP
#include "../xp/types.h"
#include "../xp/simt.h"
#include "../xp/math.h"
#include "../xp/hip_api.h"
#include "../xp/hip_device.h"
#include "../xp/hip_vectors.h"
#include "../xp/vectors.h"
