// Rows of the options of the other commands, and of those that most have.

#include "options/rows.h"

namespace gsc::cli {

Rows other_rows() {
  using W = RecordingSettings;
  using R = ReproduceSettings;
  using C = CompareSettings;
  using S = Settings;
  constexpr unsigned kBoth = kFit | kInfer;
  // Rows keep views, so words that are put together stay for good.
  static const std::string kImages = picture_extension_words();
  static const std::string kMethods =
      fmt::format("two or more of {} (exact: up to {} latents)", words<Method>(), kMaxExactLatents);
  return {
      row("output", "FILE.html", kReport, kFiles, "where the page goes", at<&S::output>()).needed("o"),
      row("model", "MODEL", kSample, kFiles, "model file to draw from; or use --generator", at<&S::model>())
          .argument()
          .files("h5"),
      row("file", "FILE", kInfo, kFiles, "a model file, or a table of numbers; - is a table from standard input",
          at<&S::model>())
          .argument()
          .left_out("required, unless --devices")
          .files(kTables),
      row("name", "NAME", kReproduce, kFiles, "an experiment of the paper; list shows them, all runs them all",
          at<&S::reproduce, &R::name>())
          .argument()
          .needed(),
      row("output", "DIR", kReproduce, kFiles, "folder for NAME.json, NAME.html and finished trials; made if missing",
          at<&S::output>())
          .short_form("o"),
      row("data", "DIR", kReproduce, kFiles, "folder of the benchmark data", at<&S::reproduce, &R::data>())
          .left_out("the environment variable GSC_DATA"),
      row("quick", "", kReproduce, kRun, "small sizes and artificial stand-ins for data, to see that it works",
          at<&S::reproduce, &R::quick>()),
      row("trials", "T", kReproduce, kRun, "repetitions", at<&S::reproduce, &R::trials>()).left_out("as in the paper"),
      row("input", "DATA|PICTURE", kCompare, kFiles,
          "what the methods work on: a table of numbers as gsc fit takes it, or a picture (by its extension)",
          at<&S::compare, &C::input>())
          .argument()
          .needed()
          .files(kTables, kImages),
      row("output", "FILE.json", kCompare, kFiles, "write all figures as JSON; - is standard output", at<&S::output>())
          .short_form("o"),
      row("truth", "W", kCompare, kFiles,
          "of a table: the basis it was generated with (dimensions x latents, equal), for the Amari index",
          at<&S::compare, &C::truth>())
          .files(kTables),
      row("output", "OUT", kSample, kFiles,
          "where the data goes: .npy, .npz, .csv, .tsv or .h5; windows of a recording also .wav, .flac; - is standard "
          "output",
          at<&S::output>())
          .needed("o")
          .files("npy npz csv tsv h5 wav flac"),
      row("input-format", "", kBoth | kInfo | kSeparate | kCompare, kFiles,
          "format of a table whose name does not tell: of standard input (-), or of a file with another extension",
          at<&S::input_format>())
          .left_out("by the extension; of - by the first bytes"),
      row("report", "FILE.html", kFit | kDenoise | kInpaint | kSeparate | kCompare, kFiles,
          "write a page with charts, basis functions and results", at<&S::report>()),
      row("metrics", "FILE.json", kBoth | kSeparate | kDenoise | kInpaint, kFiles,
          "write figures about the run as JSON; - is standard output", at<&S::metrics>()),
      row("config", "FILE.toml", kBoth | kSample | kSeparate | kDenoise | kInpaint | kCompare, kFiles,
          "read options from a file; the command line wins", at<&S::config>()),
      row("generator", "", kSample, kModel, "artificial data instead of a model's", at<&S::generator>())
          .left_out("draw from MODEL"),
      listed("latents", kSample, kModel)
          .says("with --generator: how many basis functions (even for bars)")
          .left_out("10"),
      row("noise-std", "S", kSample, kModel, "with --generator: standard deviation of the noise", at<&S::noise_std>())
          .left_out("bars: 1.414, others: 1"),
      row("perturbation", "P", kSample, kModel,
          "laplace, cauchy: how far the basis is from orthogonal, as a standard deviation", at<&S::perturbation>()),
      row("methods", "M,M", kCompare, kInference, kMethods, at<&S::compare, &C::methods>()),
      row("rate", "R", kSample, kSignals, "of .wav and .flac: samples a second", at<&S::recording, &W::rate>())
          .left_out("as the model was learned"),
      row("count", "N", kSample, kWrite, "how many data points to draw", at<&S::count>()).needed("n"),
      row("with-latents", "", kSample, kWrite, "also write spikes and slabs; laplace, cauchy: the mixing matrix",
          at<&S::with_latents>()),
      row("save-model", "MODEL.h5", kSample, kWrite, "write the model the data was drawn from (bars)",
          at<&S::save_model>()),
      row("show-basis", "ROWSxCOLS[xCHANNELS]", kReport, kWrite,
          "draw basis functions in the page as pictures of that size", at<&S::show_basis>())
          .left_out("as the model was learned, else squares where the dimensions allow, else traces"),
      row("devices", "", kInfo, kWrite, "tell what can compute here instead: what --device may be", at<&S::devices>()),
      row("json", "", kInfo, kWrite, "print JSON", at<&S::json>()),
      row("show-basis", "ROWSxCOLS[xCHANNELS]", kInfo, kWrite,
          "also draw the basis functions of a model as pictures of that size", at<&S::show_basis>()),
      listed("seed", kFit | kSample | kSeparate | kDenoise | kInpaint | kCompare | kReproduce, kRun),
      listed("threads", kBoth | kSeparate | kDenoise | kInpaint | kCompare | kReproduce, kRun)
          .left_out("OMP_NUM_THREADS, else all physical cores"),
      listed("device", kBoth | kDenoise | kSeparate, kRun)
          .says("what computes: cpu, cuda, cuda:K or auto (gsc info --devices tells)"),
      row("quiet", "", kBoth | kSample | kSeparate | kDenoise | kInpaint | kReport | kCompare | kReproduce, kRun,
          "print nothing but errors", at<&S::quiet>()),
  };
}

}  // namespace gsc::cli
