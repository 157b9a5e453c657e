// A warp and all of its lanes.

#pragma once

#define WARP 32
#define WHOLE_WARP 0xffffffffu
