#pragma once
// All of target gsc::core: data, models, inference, learning.

#include <gsc/data.h>
#include <gsc/dictionary.h>
#include <gsc/fit.h>
#include <gsc/fit_piece.h>
#include <gsc/generate.h>
#include <gsc/inference.h>
#include <gsc/learning_choices.h>
#include <gsc/methods.h>
#include <gsc/missing.h>
#include <gsc/model.h>
#include <gsc/nonlocal.h>
#include <gsc/option_list.h>
#include <gsc/recording.h>
#include <gsc/rescues.h>
#include <gsc/restarts.h>
#include <gsc/team.h>
#include <gsc/types.h>
#include <gsc/watcher.h>
#include <gsc/words.h>
