// Rows of the options of gsc separate.

#include "options/rows.h"

#include "separate_method.h"

namespace gsc::cli {

Rows separate_rows() {
  using P = SeparateSettings;
  using S = Settings;
  static const std::string kSeparateMethods = separate_methods("|");  // rows keep views
  return {
      row("mixture", "MIX...", kSeparate, kFiles,
          "the channels: a table as gsc fit takes it, a sound file of several channels, or several mono sound files; "
          "- is a table from standard input",
          at<&S::separate, &P::files>())
          .argument()
          .left_out("see --sources")
          .files(kTables, kSounds),
      row("output", "DIR", kSeparate, kFiles,
          "folder for sources.npy, mixing.npy, model.h5, metrics.json and sound; made if missing", at<&S::output>())
          .needed("o"),
      row("sources", "REF", kSeparate, kFiles,
          "an experiment instead of MIX: mix these known sources, separate them, and compare",
          at<&S::separate, &P::sources>())
          .files(kTables, kSounds),
      listed("latents", kSeparate, kModel).says("how many sources to look for").left_out("as many as channels"),
      row("init", "random|fastica|MIXING", kSeparate, kModel,
          "starts: all random; or the first from what FastICA finds; of --method fastica random, or a table of "
          "channels x sources",
          at<&S::separate, &P::init>())
          .left_out("fastica, unless there are more latents than channels; of --method fastica random")
          .files(kTables),
      listed("max-active", kSeparate, kInference).left_out("all candidates"),
      row("method", kSeparateMethods, kSeparate, kInference,
          "the posterior of the model that is learned; or FastICA, which has neither noise nor a model",
          at<&S::separate, &P::method>())
          .left_out("exact up to 12 latents, else truncated; truncated if --candidates or --max-active is given"),
      row("restarts", "R", kSeparate, kLearning, "starts with seeds --seed, --seed + 1, ...; the best free energy wins",
          at<&S::separate, &P::restarts>()),
      listed("iterations", kSeparate, kLearning).says("most iterations of each start").left_out("350; fastica: 1000"),
      listed("tolerance", kSeparate, kLearning)
          .says(
              "stop when the free energy changes by less than this part of itself; fastica: when no direction turns by "
              "more, as 1 - |cosine|; 0: never")
          .left_out("1e-6; fastica: 1e-8"),
      row("nonlinearity", "", kSeparate, kFastica,
          "tanh suits nearly all; cube is the kurtosis, for light tails; gauss bears outliers best",
          at<&S::separate, &P::fastica, &FasticaOptions::nonlinearity>()),
      row("decorrelation", "", kSeparate, kFastica,
          "how directions are kept apart: all alike, or each from those found before it",
          at<&S::separate, &P::fastica, &FasticaOptions::decorrelation>()),
      row("offset", "N", kSeparate, kSignals, "samples to leave out at the beginning", at<&S::separate, &P::offset>()),
      row("samples", "N", kSeparate, kSignals, "consecutive samples to use", at<&S::separate, &P::samples>())
          .left_out("all that follow"),
      row("normalise", "", kSeparate, kSignals,
          "give every channel (with --sources: every source, before mixing) zero mean and unit variance",
          at<&S::separate, &P::normalise>()),
      row("whiten", "", kSeparate, kSignals,
          "make the channels uncorrelated with zero mean and unit variance first: better where there is little noise; "
          "auto: unless most of that is noise",
          at<&S::separate, &P::whiten>()),
      row("mix", "orthogonal|SIGMA", kSeparate, kSignals,
          "with --sources: a random orthogonal mixing matrix, or one plus N(0, SIGMA) in every entry",
          at<&S::separate, &P::mix>()),
      row("add-noise", "S", kSeparate, kSignals, "with --sources: standard deviation of noise added to the mixture",
          at<&S::separate, &P::add_noise>()),
      row("mix-seed", "K", kSeparate, kSignals, "with --sources: seed of mixing matrix and noise",
          at<&S::separate, &P::mix_seed>()),
      row("csv", "", kSeparate, kWrite, "also write sources.csv, one row a sample, and mixing.csv, one row a channel",
          at<&S::separate, &P::csv>()),
  };
}

}  // namespace gsc::cli
