// Rows of the options of gsc fit and gsc infer, and of what others share with them.

#include "options/rows.h"

namespace gsc::cli {

Rows learning_rows() {
  using W = RecordingSettings;
  using S = Settings;
  constexpr unsigned kBoth = kFit | kInfer;
  return {
      row("model", "MODEL", kInfer | kReport, kFiles, "model file written by gsc fit", at<&S::model>())
          .argument()
          .needed()
          .files("h5"),
      row("data", "DATA", kBoth, kFiles,
          "one data point per row: .npy, .csv, .tsv, file.npz:name, file.mat:name, file.set:EEG.data, file.h5:/path; "
          "- is standard input; with --window a recording, sound too",
          at<&S::data>())
          .argument()
          .needed()
          .files(kTables, kSounds),
      row("output", "MODEL.h5", kFit, kFiles, "where the learned model goes", at<&S::output>()).needed("o"),
      row("output", "OUT", kInfer, kFiles,
          "where the posterior goes: .npz, .h5, .csv or .tsv; .npy holds the mean only; - is standard output",
          at<&S::output>())
          .needed("o")
          .files("npz h5 csv tsv npy"),
      row("output-format", "", kInfer | kSample, kFiles, "with -o -: what standard output gets",
          at<&S::output_format>())
          .left_out("csv"),
      row("transpose", "", kBoth | kCompare, kFiles,
          "exchange rows and columns: the data points are the columns of DATA", at<&S::transpose>()),
      row("missing", "error|nan|VALUE", kBoth | kCompare, kInference,
          "what NaN in DATA is: an error, or a missing value; or the number that stands for missing values",
          at<&S::missing>())
          .as_learned(),
      row("mask", "FILE", kBoth | kCompare, kFiles,
          "a table of the shape of DATA with anything but 0 where a value is missing", at<&S::mask>())
          .files(kTables),
      row("impute", "FILE", kInfer, kFiles,
          "also write DATA with missing values filled in: .npy, .npz, .csv, .tsv, .h5", at<&S::impute>())
          .files("npy npz csv tsv h5"),
      row("impute-std", "FILE", kInfer, kFiles, "also write the standard deviation of what was filled in, else 0",
          at<&S::impute_std>())
          .files("npy npz csv tsv h5"),
      row("denoise-observed", "", kInfer, kWrite,
          "with --impute: observed values too are replaced by what the model says of them without noise",
          at<&S::denoise_observed>()),
      row("checkpoint", "FILE.h5", kFit, kFiles, "save the state of learning here now and then, and on Ctrl-C",
          at<&S::checkpoint>()),
      row("checkpoint-every", "K", kFit, kFiles, "iterations between two checkpoints", at<&S::checkpoint_every>()),
      row("resume", "FILE.h5", kFit, kFiles,
          "go on from a checkpoint (or model) with its options; --iterations is the new total", at<&S::resume>()),
      listed("latents", kFit, kModel),
      listed("intercept", kFit | kSeparate | kCompare, kModel),
      listed("noise", kFit | kSeparate | kCompare, kModel),
      listed("slab", kFit | kSeparate | kCompare, kModel),
      row("init", "random|data|MODEL.h5", kFit, kModel, "start from random numbers, from data points, or from a model",
          at<&S::init>()),
      listed("shape", kFit | kCompare, kModel).left_out("a square where the dimensions allow, else a series"),
      listed("candidates", kBoth | kSeparate, kInference).left_out("10, or all if fewer").as_learned(),
      listed("max-active", kBoth, kInference).left_out("5, or all candidates if fewer").as_learned(),
      listed("sigma", kFit, kModel).left_out("learned; dictionaries: estimated"),
      listed("selection", kBoth, kInference).as_learned(),
      listed("method", kBoth, kInference).as_learned(),
      listed("precision", kBoth, kInference).as_learned(),
      row("restarts", "R", kFit, kLearning, "starts with seeds --seed, --seed + 1, ...; the best free energy wins",
          at<&S::restarts>()),
      listed("tolerance", kFit | kCompare, kLearning),
      listed("basis-prior", kFit | kSeparate, kFactored),
      listed("length-scale", kFit | kSeparate, kFactored).left_out("learned"),
      listed("shared-prior", kFit | kSeparate, kFactored),
      listed("sweep-order", kFit | kSeparate, kFactored),
      listed("coding", kBoth, kDictionary).as_learned(),
      listed("lambda", kBoth, kDictionary).as_learned(),
      listed("error-gain", kBoth, kDictionary).as_learned(),
      listed("atoms-per-point", kBoth, kDictionary).as_learned(),
      listed("draws", kBoth, kBeta).as_learned(),
      row("window", "N", kBoth, kSignals,
          "DATA is a recording (a table, or sound): every data point is N consecutive samples of all channels",
          at<&S::recording, &W::window>())
          .left_out("rows are data points")
          .as_learned(),
      row("hop", "M", kBoth, kSignals, "samples from the beginning of one window to that of the next",
          at<&S::recording, &W::hop>())
          .left_out("as --window: end to end")
          .as_learned(),
      row("rate", "R", kBoth | kSeparate, kSignals, "samples a second of a recording, for seconds in results",
          at<&S::recording, &W::rate>())
          .left_out("as the file says: sound, or a column with the time"),
      row("channels-in", "", kBoth | kSeparate, kSignals, "where the channels of a table are",
          at<&S::recording, &W::channels_in>())
          .left_out("guessed: more samples than channels"),
      row("keep-time", "", kBoth | kSeparate, kSignals,
          "a first column that is the time (rises evenly, or is called so) is a channel all the same",
          at<&S::recording, &W::keep_time>()),
      row("variance", "", kInfer, kWrite, "also write posterior variances", at<&S::variance>()),
      row("states", "K", kInfer, kWrite, "also write the K most probable states of each data point", at<&S::states>()),
      row("with-candidates", "", kInfer, kWrite, "also write which latents were candidates", at<&S::with_candidates>()),
      row("show-basis", "ROWSxCOLS[xCHANNELS]", kFit | kCompare, kWrite,
          "draw basis functions in the page as pictures of that size", at<&S::show_basis>())
          .left_out("as --shape, else squares where the dimensions allow, else traces"),
      listed("partition", kFit | kDenoise, kRun),
      listed("alpha", kFit | kDenoise, kRun),
  };
}

}  // namespace gsc::cli
