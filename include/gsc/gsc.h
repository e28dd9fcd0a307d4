#pragma once
// Everything that needs no files, which is gsc::core and gsc::tasks; add <gsc/files.h> (target gsc::io) to read and
// write tables and models. Who adds a device, or another way to compute, includes <gsc/backend/engine.h>, too.

#include <gsc/core.h>
#include <gsc/denoise.h>
#include <gsc/inpaint.h>
#include <gsc/metrics.h>
#include <gsc/noise.h>
#include <gsc/picture.h>
#include <gsc/scores.h>
#include <gsc/separate.h>
