#pragma once
// All that gsc::io reads and writes.

#include <gsc/arrays.h>
#include <gsc/model_file.h>
