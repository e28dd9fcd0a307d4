// Rows of the options of gsc inpaint.

#include "options/rows.h"

namespace gsc::cli {

Rows inpaint_rows() {
  using G = InpaintSettings;
  using F = InpaintOptions;
  using S = Settings;
  // Rows keep views, so words that are put together stay for good.
  static const std::string kImages = picture_extension_words();
  static const std::string kDamagedIn =
      "the damaged picture: " + picture_names() + "; TIFF of any number of bands; or .npy of height x width x bands";
  static const std::string kFilledOut = "where the filled picture goes: " + picture_extensions_text(", ") + " or .npy";
  return {
      row("picture", "IN", kInpaint, kFiles, kDamagedIn, at<&S::inpaint, &G::picture>())
          .argument()
          .needed()
          .files(kImages, "npy"),
      row("output", "OUT", kInpaint, kFiles, kFilledOut, at<&S::output>()).needed("o").files(kImages, "npy"),
      row("mask", "M", kInpaint, kFiles,
          "a picture of the same size, white (anything but 0) where something is missing: of one channel for whole "
          "pixels, or of as many as the picture for single values",
          at<&S::inpaint, &G::mask>())
          .files(kImages, "npy"),
      row("missing", "VALUE|nan", kInpaint, kFiles, "values that are missing are this number, or NaN",
          at<&S::inpaint, &G::missing>()),
      row("std", "FILE", kInpaint, kFiles,
          "also write the standard deviation of each value's error; .tif and .npy keep fractions",
          at<&S::inpaint, &G::std>())
          .files(kImages, "npy"),
      row("clean", "REF", kInpaint, kFiles, "the whole picture, if known: PSNR and SSIM are told",
          at<&S::inpaint, &G::clean>())
          .files(kImages, "npy"),
      row("learn-from", "MODEL.h5", kInpaint, kFiles,
          "a model of patches that was learned elsewhere (gsc fit on patches, gsc denoise --save-model) makes the "
          "first "
          "guess",
          at<&S::inpaint, &G::learn_from>()),
      row("keep-damaged", "FILE", kInpaint, kFiles,
          "with --observe: also write the damaged picture, in which what is missing is 0",
          at<&S::inpaint, &G::keep_damaged>())
          .files(kImages, "npy"),
      row("quality", "", kInpaint, kPictures, "sets patch and rounds, where left out",
          at<&S::inpaint, &G::options, &F::quality>()),
      row("patch", "P", kInpaint, kPictures, "groups are of patches of P x P pixels, and of sizes around it",
          at<&S::inpaint, &G::options, &F::patch>())
          .left_out("7, or 9 where less than a quarter is observed; 5 in colour"),
      row("groups", "N", kInpaint, kPictures,
          "rounds in which patches that look alike fill each other's gaps; 0: a smooth first guess only",
          at<&S::inpaint, &G::options, &F::groups>())
          .left_out("by --quality"),
      row("noise-level", "SIGMA", kInpaint, kPictures,
          "standard deviation of the noise of what is observed, in units of the pixels; it is taken out",
          at<&S::inpaint, &G::options, &F::noise>())
          .left_out("none; with --denoise-observed measured"),
      row("keep-observed", "", kInpaint, kPictures,
          "with --noise-level: what is observed comes out as it is all the same", at<&S::inpaint, &G::keep_observed>()),
      row("denoise-observed", "", kInpaint, kPictures,
          "noise is measured and taken out of what is observed; texture all over counts as noise",
          at<&S::inpaint, &G::denoise_observed>()),
      row("invert-mask", "", kInpaint, kPictures, "with --mask: black (0) is missing, and white is there",
          at<&S::inpaint, &G::invert_mask>()),
      row("observe", "SHARE", kInpaint, kPictures,
          "the picture is whole: keep only this share of its values, at random, fill the rest, and compare",
          at<&S::inpaint, &G::observe>()),
      row("whole-pixels", "", kInpaint, kPictures, "with --observe: all channels of a pixel are missing, or none",
          at<&S::inpaint, &G::whole_pixels>()),
      row("mask-seed", "K", kInpaint, kPictures, "with --observe: seed of what is kept",
          at<&S::inpaint, &G::mask_seed>()),
      row("depth", "", kInpaint, kPictures, "bits of the output", at<&S::inpaint, &G::depth>())
          .left_out("as the input"),
  };
}

}  // namespace gsc::cli
