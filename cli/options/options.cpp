#include "options/options.h"

#include <gsc/option_list.h>
#include <gsc/picture_files.h>

#include <algorithm>

#include "options/compare_options.h"
#include "options/option_row.h"
#include "separate_method.h"

namespace gsc::cli {
namespace {

constexpr const char *kFiles = "Files", *kModel = "Model", *kInference = "Inference", *kLearning = "Learning",
                     *kSignals = "Signals", *kPictures = "Pictures", *kFactored = "Factored method",
                     *kDictionary = "Dictionaries", *kBeta = "Beta process", *kFastica = "FastICA",
                     *kWrite = "What to write", *kRun = "Run";

// Extensions of files that completion offers.
constexpr const char *kTables = "npy npz csv tsv mat set h5",
                     *kSounds = "wav flac ogg oga opus aif aiff au snd caf w64 rf64 mp3";

/// What `text` says of each picture format, one after the other.
template <class Text>
std::string pictures(const Text& text, const std::string& between, const std::string& before_last) {
  const std::vector<PictureFormat>& formats = picture_formats();
  std::string list;
  for (std::size_t i = 0; i < formats.size(); ++i)
    list += (i == 0 ? "" : i + 1 < formats.size() ? between : before_last) + text(formats[i]);
  return list;
}

// Arguments of a command are taken in the order of their rows.
Rows make_table() {
  // Rows keep views, so words that are put together stay for good.
  static const std::string kImages = pictures(
      [](const PictureFormat& format) {
        std::string words;
        for (const std::string& extension : format.extensions)
          words += (words.empty() ? "" : " ") + extension.substr(1);
        return words;
      },
      " ", " ");
  static const std::string kPictureIn = "the noisy picture, or several: " +
                                        pictures([](const PictureFormat& format) { return format.name; }, ", ", " or ");
  static const std::string kDamagedIn =
      "the damaged picture: " + pictures([](const PictureFormat& format) { return format.name; }, ", ", " or ") +
      "; TIFF of any number of bands; or .npy of height x width x bands";
  static const std::string kFilledOut =
      "where the filled picture goes: " +
      pictures([](const PictureFormat& format) { return format.extensions.front(); }, ", ", ", ") + " or .npy";
  static const std::string kPictureOut =
      "where the denoised picture goes: " +
      pictures([](const PictureFormat& format) { return format.extensions.front(); }, ", ", " or ") +
      "; or a folder, made if missing, for files named as the pictures";
  static const std::string kSeparateMethods = separate_methods("|");
  using S = Settings;
  using P = SeparateSettings;
  using V = FactoredOptions;
  const auto separate = &S::separate;
  using W = RecordingSettings;
  const auto recording = &S::recording;
  using N = DenoiseSettings;
  using O = DenoiseOptions;
  const auto denoise = &S::denoise;
  using R = ReproduceSettings;
  const auto reproduce = &S::reproduce;
  const auto chosen = &N::options;
  using G = InpaintSettings;
  using F = InpaintOptions;
  const auto inpaint = &S::inpaint;
  const auto filling = &G::options;
  using C = CompareSettings;
  const auto compare = &S::compare;
  const unsigned both = kFit | kInfer;
  return {
      row("model", "MODEL", kInfer | kReport, kFiles, "model file written by gsc fit", &S::model)
          .argument()
          .needed()
          .files("h5"),
      row("output", "FILE.html", kReport, kFiles, "where the page goes", &S::output).needed("o"),
      row("model", "MODEL", kSample, kFiles, "model file to draw from; or use --generator", &S::model)
          .argument()
          .files("h5"),
      row("file", "FILE", kInfo, kFiles, "a model file, or a table of numbers; - is a table from standard input",
          &S::model)
          .argument()
          .left_out("required, unless --devices")
          .files(kTables),
      row("data", "DATA", both, kFiles,
          "one data point per row: .npy, .csv, .tsv, file.npz:name, file.mat:name, file.set:EEG.data, file.h5:/path; "
          "- is standard input; with --window a recording, sound too",
          &S::data)
          .argument()
          .needed()
          .files(kTables, kSounds),
      row("name", "NAME", kReproduce, kFiles, "an experiment of the paper; list shows them, all runs them all",
          reproduce, &R::name)
          .argument()
          .needed(),
      row("output", "DIR", kReproduce, kFiles, "folder for NAME.json, NAME.html and finished trials; made if missing",
          &S::output)
          .short_form("o"),
      row("data", "DIR", kReproduce, kFiles, "folder of the benchmark data", reproduce, &R::data)
          .left_out("the environment variable GSC_DATA"),
      row("quick", "", kReproduce, kRun, "small sizes and artificial stand-ins for data, to see that it works",
          reproduce, &R::quick),
      row("trials", "T", kReproduce, kRun, "repetitions", reproduce, &R::trials).left_out("as in the paper"),
      row("input", "DATA|PICTURE", kCompare, kFiles,
          "what the methods work on: a table of numbers as gsc fit takes it, or a picture (by its extension)", compare,
          &C::input)
          .argument()
          .needed()
          .files(kTables, kImages),
      row("output", "FILE.json", kCompare, kFiles, "write all figures as JSON; - is standard output", &S::output)
          .short_form("o"),
      row("truth", "W", kCompare, kFiles,
          "of a table: the basis it was generated with (dimensions x latents, equal), for the Amari index", compare,
          &C::truth)
          .files(kTables),
      row("mixture", "MIX...", kSeparate, kFiles,
          "the channels: a table as gsc fit takes it, a sound file of several channels, or several mono sound files; "
          "- is a table from standard input",
          separate, &P::files)
          .argument()
          .left_out("see --sources")
          .files(kTables, kSounds),
      row("picture", "IN...", kDenoise, kFiles, kPictureIn, denoise, &N::pictures).argument().needed().files(kImages),
      row("output", "OUT|DIR/", kDenoise, kFiles, kPictureOut, &S::output).needed("o").files(kImages),
      row("std", "FILE", kDenoise, kFiles,
          "also write the standard deviation of each pixel's error; .tif keeps fractions", denoise, &N::std)
          .files(kImages),
      row("clean", "REF", kDenoise | kCompare, kFiles, "the clean picture, if known: PSNR and SSIM are told", denoise,
          &N::clean)
          .files(kImages),
      row("keep-noisy", "FILE", kDenoise, kFiles,
          "with --add-noise: also write the noisy picture, as deep as the output", denoise, &N::keep_noisy)
          .files(kImages),
      row("picture", "IN", kInpaint, kFiles, kDamagedIn, inpaint, &G::picture)
          .argument()
          .needed()
          .files(kImages, "npy"),
      row("output", "OUT", kInpaint, kFiles, kFilledOut, &S::output).needed("o").files(kImages, "npy"),
      row("mask", "M", kInpaint, kFiles,
          "a picture of the same size, white (anything but 0) where something is missing: of one channel for whole "
          "pixels, or of as many as the picture for single values",
          inpaint, &G::mask)
          .files(kImages, "npy"),
      row("missing", "VALUE|nan", kInpaint, kFiles, "values that are missing are this number, or NaN", inpaint,
          &G::missing),
      row("std", "FILE", kInpaint, kFiles,
          "also write the standard deviation of each value's error; .tif and .npy keep fractions", inpaint, &G::std)
          .files(kImages, "npy"),
      row("clean", "REF", kInpaint, kFiles, "the whole picture, if known: PSNR and SSIM are told", inpaint, &G::clean)
          .files(kImages, "npy"),
      row("learn-from", "MODEL.h5", kInpaint, kFiles,
          "a model of patches that was learned elsewhere (gsc fit on patches, gsc denoise --save-model) makes the "
          "first "
          "guess",
          inpaint, &G::learn_from),
      row("keep-damaged", "FILE", kInpaint, kFiles,
          "with --observe: also write the damaged picture, in which what is missing is 0", inpaint, &G::keep_damaged)
          .files(kImages, "npy"),
      row("output", "MODEL.h5", kFit, kFiles, "where the learned model goes", &S::output).needed("o"),
      row("output", "OUT", kInfer, kFiles,
          "where the posterior goes: .npz, .h5, .csv or .tsv; .npy holds the mean only; - is standard output",
          &S::output)
          .needed("o")
          .files("npz h5 csv tsv npy"),
      row("output", "OUT", kSample, kFiles,
          "where the data goes: .npy, .npz, .csv, .tsv or .h5; windows of a recording also .wav, .flac; - is standard "
          "output",
          &S::output)
          .needed("o")
          .files("npy npz csv tsv h5 wav flac"),
      row("output-format", "", kInfer | kSample, kFiles, "with -o -: what standard output gets", &S::output_format)
          .left_out("csv"),
      row("input-format", "", both | kInfo | kSeparate | kCompare, kFiles,
          "format of a table whose name does not tell: of standard input (-), or of a file with another extension",
          &S::input_format)
          .left_out("by the extension; of - by the first bytes"),
      row("transpose", "", both | kCompare, kFiles,
          "exchange rows and columns: the data points are the columns of DATA", &S::transpose),
      row("missing", "error|nan|VALUE", both | kCompare, kInference,
          "what NaN in DATA is: an error, or a missing value; or the number that stands for missing values",
          &S::missing)
          .as_learned(),
      row("mask", "FILE", both | kCompare, kFiles,
          "a table of the shape of DATA with anything but 0 where a value is missing", &S::mask)
          .files(kTables),
      row("impute", "FILE", kInfer, kFiles,
          "also write DATA with missing values filled in: .npy, .npz, .csv, .tsv, .h5", &S::impute)
          .files("npy npz csv tsv h5"),
      row("impute-std", "FILE", kInfer, kFiles, "also write the standard deviation of what was filled in, else 0",
          &S::impute_std)
          .files("npy npz csv tsv h5"),
      row("denoise-observed", "", kInfer, kWrite,
          "with --impute: observed values too are replaced by what the model says of them without noise",
          &S::denoise_observed),
      row("output", "DIR", kSeparate, kFiles,
          "folder for sources.npy, mixing.npy, model.h5, metrics.json and sound; made if missing", &S::output)
          .needed("o"),
      row("sources", "REF", kSeparate, kFiles,
          "an experiment instead of MIX: mix these known sources, separate them, and compare", separate, &P::sources)
          .files(kTables, kSounds),
      row("checkpoint", "FILE.h5", kFit, kFiles, "save the state of learning here now and then, and on Ctrl-C",
          &S::checkpoint),
      row("checkpoint-every", "K", kFit, kFiles, "iterations between two checkpoints", &S::checkpoint_every),
      row("resume", "FILE.h5", kFit, kFiles,
          "go on from a checkpoint (or model) with its options; --iterations is the new total", &S::resume),
      row("save-model", "MODEL.h5", kDenoise, kFiles, "also write the (first) model that was learned", &S::save_model),
      row("report", "FILE.html", kFit | kDenoise | kInpaint | kSeparate | kCompare, kFiles,
          "write a page with charts, basis functions and results", &S::report),
      row("metrics", "FILE.json", both | kSeparate | kDenoise | kInpaint, kFiles,
          "write figures about the run as JSON; - is standard output", &S::metrics),
      row("config", "FILE.toml", both | kSample | kSeparate | kDenoise | kInpaint | kCompare, kFiles,
          "read options from a file; the command line wins", &S::config),

      row("generator", "", kSample, kModel, "artificial data instead of a model's", &S::generator)
          .left_out("draw from MODEL"),
      listed("latents", kFit, kModel),
      listed("latents", kDenoise, kModel, denoise, chosen, &O::latents)
          .left_out("by --quality, fewer for small pictures"),
      listed("init", kDenoise, kModel, denoise, chosen, &O::init)
          .says("start from random numbers or from data points (patches)")
          .left_out("patches of the smoothed picture"),
      listed("latents", kSeparate, kModel).says("how many sources to look for").left_out("as many as channels"),
      listed("latents", kSample, kModel)
          .says("with --generator: how many basis functions (even for bars)")
          .left_out("10"),
      listed("intercept", kFit | kSeparate | kCompare, kModel),
      listed("noise", kFit | kSeparate | kCompare, kModel),
      listed("slab", kFit | kSeparate | kCompare, kModel),
      listed("known-noise", kFit, kModel).left_out("learned; dictionaries: estimated"),
      row("init", "random|data|MODEL.h5", kFit, kModel, "start from random numbers, from data points, or from a model",
          &S::init),
      row("init", "random|fastica|MIXING", kSeparate, kModel,
          "starts: all random; or the first from what FastICA finds; of --method fastica random, or a table of "
          "channels x sources",
          separate, &P::init)
          .left_out("fastica, unless there are more latents than channels; of --method fastica random")
          .files(kTables),
      listed("shape", kFit | kCompare, kModel).left_out("a square where the dimensions allow, else a series"),
      row("noise-std", "S", kSample, kModel, "with --generator: standard deviation of the noise", &S::noise_std)
          .left_out("bars: 1.414, others: 1"),
      row("perturbation", "P", kSample, kModel,
          "laplace, cauchy: how far the basis is from orthogonal, as a standard deviation", &S::perturbation),

      listed("candidates", both | kSeparate, kInference).left_out("10, or all if fewer").as_learned(),
      listed("max-active", both, kInference).left_out("5, or all candidates if fewer").as_learned(),
      listed("candidates", kDenoise, kInference, denoise, chosen, &O::candidates)
          .says("latents per patch that may be active together")
          .left_out("by --quality"),
      listed("max-active", kDenoise, kInference, denoise, chosen, &O::max_active).left_out("by --quality"),
      row("methods", "M,M", kCompare, kInference,
          fmt::format("two or more of {} (exact: up to {} latents)", words<Method>(), kMaxExactLatents), compare,
          &C::methods),
      listed("selection", kDenoise, kInference, denoise, chosen, &O::selection),
      listed("precision", kDenoise, kInference, denoise, chosen, &O::precision),
      listed("method", kDenoise, kInference, denoise, chosen, &O::method).left_out("auto: truncated"),
      listed("max-active", kSeparate, kInference).left_out("all candidates"),
      row("sigma", "S", kFit, kModel,
          "standard deviation of the noise, if it is known: then it is not learned; dictionaries must be told", &S::fit,
          &FitOptions::known_noise)
          .left_out("learned; dictionaries: estimated"),
      listed("selection", both, kInference).as_learned(),
      listed("method", both, kInference).as_learned(),
      row("method", kSeparateMethods, kSeparate, kInference,
          "the posterior of the model that is learned; or FastICA, which has neither noise nor a model", separate,
          &P::method)
          .left_out("exact up to 12 latents, else truncated; truncated if --candidates or --max-active is given"),
      listed("precision", both, kInference).as_learned(),
      listed("gap-memory", kFit, kLearning),

      listed("iterations", kFit, kLearning),
      row("restarts", "R", kFit, kLearning, "starts with seeds --seed, --seed + 1, ...; the best free energy wins",
          &S::restarts),
      row("restarts", "R", kSeparate, kLearning, "starts with seeds --seed, --seed + 1, ...; the best free energy wins",
          separate, &P::restarts),
      listed("iterations", kDenoise, kLearning, denoise, chosen, &O::iterations)
          .says("passes over the patches; with --batch 0 EM iterations")
          .left_out("by --quality"),
      listed("iterations", kSeparate, kLearning).says("most iterations of each start").left_out("350; fastica: 1000"),
      listed("batch", kFit, kLearning),
      listed("polish", kFit, kLearning),
      listed("batch", kDenoise, kLearning, denoise, chosen, &O::batch)
          .left_out("4096; online: 512; factored, ksvd, feature-sign: 0"),
      listed("polish", kDenoise, kLearning, denoise, chosen, &O::polish),
      listed("tolerance", kFit | kCompare, kLearning),
      listed("tolerance", kSeparate, kLearning)
          .says(
              "stop when the free energy changes by less than this part of itself; fastica: when no direction turns by "
              "more, as 1 - |cosine|; 0: never")
          .left_out("1e-6; fastica: 1e-8"),
      listed("noise-update", kFit, kLearning),
      listed("slab-update", kFit, kLearning),

      listed("basis-prior", kFit | kSeparate, kFactored),
      listed("basis-prior", kDenoise, kFactored, denoise, chosen, &O::factored, &V::basis_prior),
      listed("length-scale", kFit | kSeparate, kFactored).left_out("learned"),
      listed("length-scale", kDenoise, kFactored, denoise, chosen, &O::factored, &V::length_scale).left_out("learned"),
      listed("shared-prior", kFit | kSeparate, kFactored),
      listed("shared-prior", kDenoise, kFactored, denoise, chosen, &O::factored, &V::shared_prior),
      listed("sweep-order", kFit | kSeparate, kFactored),
      listed("sweep-order", kDenoise, kFactored, denoise, chosen, &O::factored, &V::order),
      row("nonlinearity", "", kSeparate, kFastica,
          "tanh suits nearly all; cube is the kurtosis, for light tails; gauss bears outliers best", separate,
          &P::fastica, &FasticaOptions::nonlinearity),
      row("decorrelation", "", kSeparate, kFastica,
          "how directions are kept apart: all alike, or each from those found before it", separate, &P::fastica,
          &FasticaOptions::decorrelation),

      listed("coding", both, kDictionary).as_learned(),
      listed("lambda", both, kDictionary).as_learned(),
      listed("error-gain", both, kDictionary).as_learned(),
      listed("atoms-per-point", both, kDictionary).as_learned(),
      listed("atom-update", kFit, kDictionary),
      listed("decay", kFit, kDictionary),
      listed("error-gain", kDenoise, kDictionary, denoise, chosen, &O::coding, &CodingOptions::error_gain),
      listed("atoms-per-point", kDenoise, kDictionary, denoise, chosen, &O::coding, &CodingOptions::atoms_per_point),
      listed("atom-update", kDenoise, kDictionary, denoise, chosen, &O::dictionary, &DictionaryOptions::atom_update),
      listed("coding", kDenoise, kDictionary, denoise, chosen, &O::coding, &CodingOptions::coding)
          .says(
              "what online learns by: the smallest codes with an error of --error-gain times the noise, the lasso with "
              "--lambda, or orthogonal matching pursuit, by which patches are coded in the end")
          .left_out("bounded; lasso with --lambda"),
      listed("lambda", kDenoise, kDictionary, denoise, chosen, &O::coding, &CodingOptions::lambda)
          .left_out("feature-sign: 2.5 times the noise"),
      listed("decay", kDenoise, kDictionary, denoise, chosen, &O::dictionary, &DictionaryOptions::decay),

      listed("draws", kDenoise, kBeta, denoise, chosen, &O::draws).left_out("20"),
      listed("usage-prior", kDenoise, kBeta, denoise, chosen, &O::usage_prior),
      listed("chains", kDenoise, kBeta, denoise, chosen, &O::chains).left_out("1"),
      listed("burn-in", kDenoise, kBeta, denoise, chosen, &O::burn_in).left_out("half of the iterations"),
      listed("draws", both, kBeta).as_learned(),
      listed("usage-prior", kFit, kBeta),
      listed("chains", kFit, kBeta),
      listed("burn-in", kFit, kBeta),

      row("quality", "", kDenoise | kCompare, kPictures,
          "sets patch, latents, candidates, iterations, models and rounds, where left out", denoise, chosen,
          &O::quality),
      row("patch", "P", kDenoise | kCompare, kPictures, "patches of P x P pixels", denoise, chosen, &O::patch)
          .left_out("8, or 10 where noise is strong; further models differ; dictionaries: 8"),
      row("stride", "N", kDenoise | kCompare, kPictures, "pixels from one patch to the next, in the final averaging",
          denoise, chosen, &O::stride)
          .left_out("1"),
      row("patch-mean", "", kDenoise | kCompare, kPictures,
          "take each patch's mean out before learning, or keep it (the paper)", denoise, chosen, &O::patch_mean)
          .left_out("remove"),
      row("weights", "", kDenoise | kCompare, kPictures, "of overlapping patches: equal, or by how certain each is",
          denoise, chosen, &O::weights)
          .left_out("certainty, or equal where the mean is kept"),
      row("models", "N", kDenoise, kPictures, "models to learn, of different patches; their pictures are averaged",
          denoise, chosen, &O::models)
          .left_out("by --quality"),
      row("train-patches", "N", kDenoise | kCompare, kPictures, "learn on so many random patches where there are more",
          denoise, chosen, &O::train_patches)
          .left_out("by --quality"),
      row("sigma", "S", kDenoise, kPictures,
          "standard deviation of the noise in units of the pixels, if it is known; dictionaries must be told", denoise,
          chosen, &O::sigma)
          .left_out("measured"),
      row("noise-level", "", kDenoise, kPictures,
          "how strong the noise is: measured in the picture, or learned with the model (the paper)", denoise, chosen,
          &O::noise)
          .left_out("measured; factored: learned"),
      row("nonlocal", "N", kDenoise, kPictures,
          "rounds of inference with a prior of its own for every patch, from patches like it", denoise, chosen,
          &O::nonlocal)
          .left_out("by --quality"),
      row("groups", "N", kDenoise, kPictures,
          "rounds of a second opinion: groups of patches that look alike as Gaussians", denoise, chosen, &O::groups)
          .left_out("by --quality"),
      row("add-noise", "SIGMA", kDenoise | kCompare, kPictures,
          "the picture is clean: add noise of this standard deviation first, and compare with it", denoise,
          &N::add_noise),
      row("clip", "", kDenoise | kCompare, kPictures, "with --add-noise: round and clip the noisy picture to its range",
          denoise, &N::clip),
      row("noise-seed", "K", kDenoise | kCompare, kPictures, "with --add-noise: seed of the noise", denoise,
          &N::noise_seed),
      row("depth", "", kDenoise, kPictures, "bits of the output", denoise, &N::depth).left_out("as the input"),

      row("quality", "", kInpaint, kPictures, "sets patch and rounds, where left out", inpaint, filling, &F::quality),
      row("patch", "P", kInpaint, kPictures, "groups are of patches of P x P pixels, and of sizes around it", inpaint,
          filling, &F::patch)
          .left_out("7, or 9 where less than a quarter is observed; 5 in colour"),
      row("groups", "N", kInpaint, kPictures,
          "rounds in which patches that look alike fill each other's gaps; 0: a smooth first guess only", inpaint,
          filling, &F::groups)
          .left_out("by --quality"),
      row("noise-level", "SIGMA", kInpaint, kPictures,
          "standard deviation of the noise of what is observed, in units of the pixels; it is taken out", inpaint,
          filling, &F::noise)
          .left_out("none; with --denoise-observed measured"),
      row("keep-observed", "", kInpaint, kPictures,
          "with --noise-level: what is observed comes out as it is all the same", inpaint, &G::keep_observed),
      row("denoise-observed", "", kInpaint, kPictures,
          "noise is measured and taken out of what is observed; texture all over counts as noise", inpaint,
          &G::denoise_observed),
      row("invert-mask", "", kInpaint, kPictures, "with --mask: black (0) is missing, and white is there", inpaint,
          &G::invert_mask),
      row("observe", "SHARE", kInpaint, kPictures,
          "the picture is whole: keep only this share of its values, at random, fill the rest, and compare", inpaint,
          &G::observe),
      row("whole-pixels", "", kInpaint, kPictures, "with --observe: all channels of a pixel are missing, or none",
          inpaint, &G::whole_pixels),
      row("mask-seed", "K", kInpaint, kPictures, "with --observe: seed of what is kept", inpaint, &G::mask_seed),
      row("depth", "", kInpaint, kPictures, "bits of the output", inpaint, &G::depth).left_out("as the input"),

      row("window", "N", both, kSignals,
          "DATA is a recording (a table, or sound): every data point is N consecutive samples of all channels",
          recording, &W::window)
          .left_out("rows are data points")
          .as_learned(),
      row("hop", "M", both, kSignals, "samples from the beginning of one window to that of the next", recording,
          &W::hop)
          .left_out("as --window: end to end")
          .as_learned(),
      row("rate", "R", both | kSeparate, kSignals, "samples a second of a recording, for seconds in results", recording,
          &W::rate)
          .left_out("as the file says: sound, or a column with the time"),
      row("rate", "R", kSample, kSignals, "of .wav and .flac: samples a second", recording, &W::rate)
          .left_out("as the model was learned"),
      row("channels-in", "", both | kSeparate, kSignals, "where the channels of a table are", recording,
          &W::channels_in)
          .left_out("guessed: more samples than channels"),
      row("keep-time", "", both | kSeparate, kSignals,
          "a first column that is the time (rises evenly, or is called so) is a channel all the same", recording,
          &W::keep_time),
      row("offset", "N", kSeparate, kSignals, "samples to leave out at the beginning", separate, &P::offset),
      row("samples", "N", kSeparate, kSignals, "consecutive samples to use", separate, &P::samples)
          .left_out("all that follow"),
      row("normalise", "", kSeparate, kSignals,
          "give every channel (with --sources: every source, before mixing) zero mean and unit variance", separate,
          &P::normalise),
      row("whiten", "", kSeparate, kSignals,
          "make the channels uncorrelated with zero mean and unit variance first: better where there is little noise; "
          "auto: unless most of that is noise",
          separate, &P::whiten),
      row("mix", "orthogonal|SIGMA", kSeparate, kSignals,
          "with --sources: a random orthogonal mixing matrix, or one plus N(0, SIGMA) in every entry", separate,
          &P::mix),
      row("add-noise", "S", kSeparate, kSignals, "with --sources: standard deviation of noise added to the mixture",
          separate, &P::add_noise),
      row("mix-seed", "K", kSeparate, kSignals, "with --sources: seed of mixing matrix and noise", separate,
          &P::mix_seed),

      row("csv", "", kSeparate, kWrite, "also write sources.csv, one row a sample, and mixing.csv, one row a channel",
          separate, &P::csv),
      row("count", "N", kSample, kWrite, "how many data points to draw", &S::count).needed("n"),
      row("with-latents", "", kSample, kWrite, "also write spikes and slabs; laplace, cauchy: the mixing matrix",
          &S::with_latents),
      row("save-model", "MODEL.h5", kSample, kWrite, "write the model the data was drawn from (bars)", &S::save_model),
      row("variance", "", kInfer, kWrite, "also write posterior variances", &S::variance),
      row("states", "K", kInfer, kWrite, "also write the K most probable states of each data point", &S::states),
      row("with-candidates", "", kInfer, kWrite, "also write which latents were candidates", &S::with_candidates),
      row("show-basis", "ROWSxCOLS[xCHANNELS]", kFit | kCompare, kWrite,
          "draw basis functions in the page as pictures of that size", &S::show_basis)
          .left_out("as --shape, else squares where the dimensions allow, else traces"),
      row("show-basis", "ROWSxCOLS[xCHANNELS]", kReport, kWrite,
          "draw basis functions in the page as pictures of that size", &S::show_basis)
          .left_out("as the model was learned, else squares where the dimensions allow, else traces"),
      row("devices", "", kInfo, kWrite, "tell what can compute here instead: what --device may be", &S::devices),
      row("json", "", kInfo, kWrite, "print JSON", &S::json),
      row("show-basis", "ROWSxCOLS[xCHANNELS]", kInfo, kWrite,
          "also draw the basis functions of a model as pictures of that size", &S::show_basis),

      listed("seed", kFit | kSample | kSeparate | kDenoise | kInpaint | kCompare | kReproduce, kRun),
      listed("threads", both | kSeparate | kDenoise | kInpaint | kCompare | kReproduce, kRun)
          .left_out("OMP_NUM_THREADS, else all physical cores"),
      listed("device", both | kSeparate, kRun),
      listed("device", kDenoise, kRun, denoise, chosen, &O::device),
      listed("partition", kFit | kDenoise, kRun),
      listed("alpha", kFit | kDenoise, kRun),
      row("quiet", "", both | kSample | kSeparate | kDenoise | kInpaint | kReport | kCompare | kReproduce, kRun,
          "print nothing but errors", &S::quiet),
  };
}

}  // namespace

std::string_view to_string(Generator generator) {
  switch (generator) {
    case Generator::bars:
      return "bars";
    case Generator::laplace:
      return "laplace";
    case Generator::cauchy:
      return "cauchy";
  }
  return "";
}

std::string_view to_string(ChannelsIn channels_in) { return channels_in == ChannelsIn::rows ? "rows" : "columns"; }

std::string_view to_string(Mixing /*mixing*/) { return "orthogonal"; }

void Option::set(Settings& settings, const std::vector<std::string>& texts) const {
  for (const FieldPlace& field : fields)
    field.type->set(reinterpret_cast<char*>(&settings) + field.offset, name, texts);
}

bool Option::left_alone(const std::vector<std::string>& texts) const {
  return texts.back() == "auto" && !required && !several && !is_switch() && !fields.front().type->is_text;
}

Json Option::get(const Settings& settings) const {
  return fields.front().type->get(reinterpret_cast<const char*>(&settings) + fields.front().offset);
}

std::string Option::default_text(Command command) const {
  if (required) return "required";
  if (from_model && command == kInfer) return "as the model was learned";
  if (!if_left_out.empty()) return if_left_out;
  if (is_switch()) return "";
  const Json usual = get(usual_settings());
  if (usual.is_null()) return "";
  if (usual.is_number_float()) return fmt::format("{:g}", usual.get<double>());
  return usual.is_string() ? usual.get<std::string>() : usual.dump();
}

const std::vector<Option>& option_table() {
  static const std::vector<Option> table = with_compare_rows(make_table().options);
  return table;
}

std::vector<const Option*> options_of(Command command) {
  std::vector<const Option*> options;
  for (const Option& option : option_table())
    if (option.commands & command) options.push_back(&option);
  return options;
}

namespace {

/// Options that this method cannot have are not worth telling; those of the spike-and-slab model are told together.
bool concerns(const std::string& key, Method method) {
  static const std::vector<OptionDescription> listed = fit_option_list();
  for (const OptionDescription& option : listed)
    if (option.name == key)
      return option.methods.empty() || std::any_of(option.methods.begin(), option.methods.end(), [&](Method other) {
               return other == method || (spike_and_slab(other) && spike_and_slab(method));
             });
  return true;
}

}  // namespace

Json options_json(Command command, const Settings& settings) {
  const Method method = command == kDenoise ? settings.denoise.options.method : settings.fit.inference.method;
  Json json = Json::object();
  for (const Option* option : options_of(command)) {
    if (option->group == kFiles || option->group == kWrite || option->group == kRun) continue;
    std::string key = option->name;
    std::replace(key.begin(), key.end(), '-', '_');
    if (command == kFit && key == "sigma") continue;  // another word for known_noise
    if (concerns(key, method)) json[key] = option->get(settings);
  }
  return json;
}

}  // namespace gsc::cli
