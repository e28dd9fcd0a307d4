// Rows of the options of gsc denoise, and of what gsc compare shares with it.

#include "options/rows.h"

namespace gsc::cli {

Rows denoise_rows() {
  using N = DenoiseSettings;
  using O = DenoiseOptions;
  using S = Settings;
  // Rows keep views, so words that are put together stay for good.
  static const std::string kImages = picture_extension_words();
  static const std::string kPictureIn = "the noisy picture, or several: " + picture_names();
  static const std::string kPictureOut = "where the denoised picture goes: " + picture_extensions_text(" or ") +
                                         "; or a folder, made if missing, for files named as the pictures";
  return {
      row("picture", "IN...", kDenoise, kFiles, kPictureIn, at<&S::denoise, &N::pictures>())
          .argument()
          .needed()
          .files(kImages),
      row("output", "OUT|DIR/", kDenoise, kFiles, kPictureOut, at<&S::output>()).needed("o").files(kImages),
      row("std", "FILE", kDenoise, kFiles,
          "also write the standard deviation of each pixel's error; .tif keeps fractions", at<&S::denoise, &N::std>())
          .files(kImages),
      row("clean", "REF", kDenoise | kCompare, kFiles, "the clean picture, if known: PSNR and SSIM are told",
          at<&S::denoise, &N::clean>())
          .files(kImages),
      row("keep-noisy", "FILE", kDenoise, kFiles,
          "with --add-noise: also write the noisy picture, as deep as the output", at<&S::denoise, &N::keep_noisy>())
          .files(kImages),
      row("save-model", "MODEL.h5", kDenoise, kFiles, "also write the (first) model that was learned",
          at<&S::save_model>()),
      listed("latents", kDenoise | kCompare, kModel)
          .left_out("by --quality, fewer for small pictures")
          .chosen_by_picture(),
      listed("init", kDenoise | kCompare, kModel)
          .says("start from random numbers or from data points (patches)")
          .left_out("patches of the smoothed picture")
          .chosen_by_picture(),
      listed("candidates", kDenoise | kCompare, kInference)
          .says("latents per patch that may be active together")
          .left_out("by --quality")
          .chosen_by_picture(),
      listed("max-active", kDenoise | kCompare, kInference).left_out("by --quality").chosen_by_picture(),
      listed("selection", kDenoise | kCompare, kInference),
      listed("precision", kDenoise | kCompare, kInference),
      listed("method", kDenoise, kInference).left_out("auto: truncated"),
      listed("iterations", kDenoise | kCompare, kLearning)
          .says("passes over the patches; with --batch 0 EM iterations")
          .left_out("by --quality")
          .chosen_by_picture(),
      listed("batch", kDenoise, kLearning)
          .left_out("4096; online: 512; factored, ksvd, feature-sign: 0")
          .chosen_by_picture(),
      listed("polish", kDenoise, kLearning),
      listed("basis-prior", kDenoise | kCompare, kFactored),
      listed("length-scale", kDenoise | kCompare, kFactored).left_out("learned"),
      listed("shared-prior", kDenoise | kCompare, kFactored),
      listed("sweep-order", kDenoise | kCompare, kFactored),
      listed("error-gain", kDenoise | kCompare, kDictionary),
      listed("atoms-per-point", kDenoise | kCompare, kDictionary),
      listed("atom-update", kDenoise | kCompare, kDictionary),
      listed("coding", kDenoise | kCompare, kDictionary)
          .says(
              "what online learns by: the smallest codes with an error of --error-gain times the noise, the lasso with "
              "--lambda, or orthogonal matching pursuit, by which patches are coded in the end")
          .left_out("bounded; lasso with --lambda"),
      listed("lambda", kDenoise | kCompare, kDictionary).left_out("feature-sign: 2.5 times the noise"),
      listed("decay", kDenoise | kCompare, kDictionary),
      listed("draws", kDenoise | kCompare, kBeta).left_out("20").chosen_by_picture(),
      listed("usage-prior", kDenoise | kCompare, kBeta),
      listed("chains", kDenoise | kCompare, kBeta).left_out("1").chosen_by_picture(),
      listed("burn-in", kDenoise | kCompare, kBeta).left_out("half of the iterations").chosen_by_picture(),
      row("quality", "", kDenoise | kCompare, kPictures,
          "sets patch, latents, candidates, iterations, models and rounds, where left out",
          at<&S::denoise, &N::options, &O::quality>()),
      row("patch", "P", kDenoise | kCompare, kPictures, "patches of P x P pixels",
          at<&S::denoise, &N::options, &O::patch>())
          .left_out("8, or 10 where noise is strong; further models differ; dictionaries: 8"),
      row("stride", "N", kDenoise | kCompare, kPictures, "pixels from one patch to the next, in the final averaging",
          at<&S::denoise, &N::options, &O::stride>())
          .left_out("1"),
      row("patch-mean", "", kDenoise | kCompare, kPictures,
          "take each patch's mean out before learning, or keep it (the paper)",
          at<&S::denoise, &N::options, &O::patch_mean>())
          .left_out("remove"),
      row("weights", "", kDenoise | kCompare, kPictures, "of overlapping patches: equal, or by how certain each is",
          at<&S::denoise, &N::options, &O::weights>())
          .left_out("certainty, or equal where the mean is kept"),
      row("models", "N", kDenoise, kPictures, "models to learn, of different patches; their pictures are averaged",
          at<&S::denoise, &N::options, &O::models>())
          .left_out("by --quality"),
      row("train-patches", "N", kDenoise | kCompare, kPictures, "learn on so many random patches where there are more",
          at<&S::denoise, &N::options, &O::train_patches>())
          .left_out("by --quality"),
      listed("sigma", kDenoise, kPictures)
          .says("standard deviation of the noise in units of the pixels, if it is known; dictionaries must be told")
          .left_out("measured")
          .chosen_by_picture(),
      listed("sigma", kCompare, kModel)
          .says("standard deviation of the noise, for methods that must be told it; the others learn it")
          .left_out("estimated; pictures: measured"),
      row("noise-level", "", kDenoise, kPictures,
          "how strong the noise is: measured in the picture, or learned with the model (the paper)",
          at<&S::denoise, &N::options, &O::noise>())
          .left_out("measured; factored: learned"),
      row("nonlocal", "N", kDenoise, kPictures,
          "rounds of inference with a prior of its own for every patch, from patches like it",
          at<&S::denoise, &N::options, &O::nonlocal>())
          .left_out("by --quality"),
      row("groups", "N", kDenoise, kPictures,
          "rounds of a second opinion: groups of patches that look alike as Gaussians",
          at<&S::denoise, &N::options, &O::groups>())
          .left_out("by --quality"),
      row("add-noise", "SIGMA", kDenoise | kCompare, kPictures,
          "the picture is clean: add noise of this standard deviation first, and compare with it",
          at<&S::denoise, &N::add_noise>()),
      row("clip", "", kDenoise | kCompare, kPictures, "with --add-noise: round and clip the noisy picture to its range",
          at<&S::denoise, &N::clip>()),
      row("noise-seed", "K", kDenoise | kCompare, kPictures, "with --add-noise: seed of the noise",
          at<&S::denoise, &N::noise_seed>()),
      row("depth", "", kDenoise, kPictures, "bits of the output", at<&S::denoise, &N::depth>())
          .left_out("as the input"),
  };
}

}  // namespace gsc::cli
