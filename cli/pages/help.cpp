#include "pages/help.h"

#include <fmt/format.h>

#include <algorithm>

namespace gsc::cli {
namespace {

std::string usage(const Option& option, std::string_view separator = ", ") {
  if (option.positional) return option.value;
  const std::string letter = option.letter.empty() ? "" : fmt::format("-{}{}", option.letter, separator);
  return fmt::format("{}--{}{}{}", letter, option.name, option.is_switch() ? "" : " ", option.value);
}

/// A | inside a cell of a Markdown table has to be escaped.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  return text;
}

}  // namespace

const std::vector<CommandText>& command_texts() {
  static const std::vector<CommandText> texts = {
      {kFit, "fit", "DATA -o MODEL.h5 [options]", "learn a model",
       "Learns a model from data: basis functions, how often and how strongly each is active, and the noise.",
       "  gsc fit patches.npy -o model.h5 --latents 256\n"
       "  gsc fit mix.csv -o model.h5 --latents 8 --method exact --metrics run.json\n"
       "  gsc fit big.npy -o model.h5 --latents 512 --checkpoint state.h5     (Ctrl-C is safe)\n"
       "  gsc fit big.npy -o model.h5 --resume state.h5 --checkpoint state.h5\n"
       "  zcat table.csv.gz | gsc fit - -o model.h5 --latents 32\n"},
      {kInfer, "infer", "MODEL DATA -o OUT.npz [options]", "posterior of data",
       "Writes the posterior of each data point under a model: the mean code, which latents are active, "
       "log-likelihood.",
       "  gsc infer model.h5 patches.npy -o codes.npz\n"
       "  gsc infer model.h5 patches.npy -o codes.h5 --variance --states 3\n"
       "  gsc infer model.h5 table.csv -o codes.csv\n"
       "  cut -d, -f2- log.csv | gsc infer model.h5 - -o - | head\n"},
      {kSample, "sample", "MODEL -n N -o DATA [options]", "draw data from a model",
       "Draws data from a model, or makes artificial data to try things out.",
       "  gsc sample model.h5 -n 1000 -o draws.npy\n"
       "  gsc sample --generator bars --latents 10 -n 1000 -o bars.npy --save-model truth.h5\n"},
      {kDenoise, "denoise", "IN... -o OUT [options]", "denoise a picture",
       "Learns a model from the noisy picture alone, noise level included, and replaces every patch by its posterior "
       "mean.",
       "  gsc denoise photo.png -o clean.png\n"
       "  gsc denoise roll/*.png -o clean/ --quality fast\n"
       "  gsc denoise photo.png -o clean.png --std std.tif --report report.html --quality best\n"
       "  gsc denoise house.png -o out.png --add-noise 25      (experiment: add noise, denoise, compare)\n"},
      {kInpaint, "inpaint", "IN -o OUT --mask M|--missing V", "fill what is missing of a picture",
       "Fills missing pixels, or single values of them, from what is there: patches that look alike fill each other's "
       "gaps. Says how far it can be trusted, by observed values that it set aside.",
       "  gsc inpaint photo.png -o whole.png --mask scratches.png\n"
       "  gsc inpaint scan.tif -o whole.tif --missing 0 --std std.tif --report report.html\n"
       "  gsc inpaint cube.npy -o whole.npy --missing nan\n"
       "  gsc inpaint house.png -o out.png --observe 0.2      (experiment: drop 80 % of it, fill, compare)\n"},
      {kSeparate, "separate", "MIX... -o DIR [options]", "find the sources in a mixture",
       "Blind source separation: learns how several channels mix unknown sources, and writes the sources.",
       "  gsc separate recording.wav -o out\n"
       "  gsc separate left.wav right.wav -o out --restarts 20\n"
       "  gsc separate rest.set:EEG.data -o out --normalise --csv\n"
       "  gsc separate mix.npy -o out --offset 1000 --samples 500 --noise diagonal\n"
       "  gsc separate --sources speech.mat --mix orthogonal --samples 500 -o out     (experiment)\n"},
      {kReproduce, "reproduce", "NAME|all|list -o DIR [options]", "the experiments of the paper",
       "Runs an experiment of the paper and writes its figure or table with the published values beside it. What is "
       "finished is kept in DIR: a run that was stopped goes on where it was.",
       "  gsc reproduce list\n"
       "  gsc reproduce consistency -o results\n"
       "  gsc reproduce table2 --data benchmarks -o results --trials 1\n"
       "  gsc reproduce all --quick -o results\n"},
      {kCompare, "compare", "DATA|PICTURE [options]", "methods side by side",
       "Runs methods on the same input with the same options and tells which is better, and which is faster. Options "
       "of gsc fit are for tables, those of gsc denoise for pictures.",
       "  gsc compare photo.png --add-noise 25 --quality fast --report compare.html\n"
       "  gsc compare noisy.png --clean photo.png --methods truncated,factored -o compare.json\n"
       "  gsc compare mix.npz:data --truth mix.npz:mixing --methods truncated,factored,exact\n"},
      {kReport, "report", "MODEL -o FILE.html", "a page about a model",
       "Writes a page about a model: how it was learned, and its basis functions.",
       "  gsc report model.h5 -o model.html --show-basis 8x8\n"},
      {kInfo, "info", "FILE [--json]", "what is in a file", "Tells what is in a model file or a table of numbers.",
       "  gsc info model.h5\n"
       "  gsc info recording.mat:x\n"
       "  gsc info --devices\n"},
  };
  return texts;
}

const CommandText& text_of(Command command) {
  return *std::find_if(command_texts().begin(), command_texts().end(),
                       [&](const CommandText& text) { return text.command == command; });
}

std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string result;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (column + (end - begin) > kWidth && column > indent) {
      result.back() = '\n';
      result.append(indent, ' ');
      column = indent;
    }
    result += text.substr(begin, end - begin) + " ";
    column += end - begin + 1;
    begin = end + 1;
  }
  result.back() = '\n';
  return result;
}

std::string about_text() {
  return "gsc learns spike-and-slab sparse codes: data points are sums of few basis functions, each on or off and with "
         "an amplitude of its own, plus noise. Learning is truncated EM.";
}

std::string first_try() {
  return "  gsc sample --generator bars --latents 10 -n 1000 -o bars.npy\n"
         "  gsc fit bars.npy -o model.h5 --latents 10 --candidates 5 --max-active 4\n"
         "  gsc info model.h5\n"
         "  gsc infer model.h5 bars.npy -o codes.npz\n";
}

std::string general_help() {
  std::string help = wrapped(about_text(), 0) + "\nUsage: gsc COMMAND ...\n\n";
  for (const CommandText& text : command_texts())
    help += fmt::format("  gsc {:<8} {:<33} {}\n", text.name, text.arguments, text.title);
  help += "\nA first try, without data of your own:\n\n" + first_try();
  help +=
      "\ngsc COMMAND --help lists the options of a command, gsc --version tells the version.\n"
      "Exit codes: 0 done, 1 failure, 2 wrong usage, 130 interrupted.\n";
  return help;
}

std::string command_help(Command command) {
  const CommandText& text = text_of(command);
  std::string help = fmt::format("Usage: gsc {} {}\n\n{}\n", text.name, text.arguments, text.summary);
  std::string group;
  for (const Option* option : options_of(command)) {
    if (option->group != group) help += fmt::format("\n{}\n", group = option->group);
    std::string left_out = option->default_text(command);
    if (!left_out.empty()) left_out = fmt::format(" [{}]", left_out);
    help += fmt::format("  {:<34} {}", usage(*option), wrapped(option->help + left_out, 37));
  }
  return help + "\nExamples\n" + text.examples;
}

std::string options_markdown() {
  std::string markdown;
  for (const CommandText& text : command_texts()) {
    if (!markdown.empty()) markdown += "\n";
    markdown += fmt::format("### `gsc {} {}`\n\n{}\n\n| option | if left out | meaning |\n|---|---|---|\n", text.name,
                            text.arguments, text.summary);
    for (const Option* option : options_of(text.command))
      markdown += fmt::format("| `{}` | {} | {} |\n", cell(usage(*option, "`, `")),
                              cell(option->default_text(text.command)), cell(option->help));
  }
  return markdown;
}

}  // namespace gsc::cli
