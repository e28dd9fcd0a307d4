#pragma once
// All that gsc::io reads and writes.

#include <gsc/arrays.h>
#include <gsc/file_kind.h>
#include <gsc/model_file.h>
#include <gsc/streams.h>
