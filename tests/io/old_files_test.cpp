// Model files of other versions: those that 0.1.0 wrote, those that lack what came later, those that know more than we.

#include <gsc/files.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>

#include "expect_error.h"
#include "io_support.h"

namespace gsc::test {
namespace {

// What version 0.1.0 wrote; tests/files/0.1.0/README.md has the recipe.

class WrittenBy010 : public ::testing::TestWithParam<const char*> {
 protected:
  static std::filesystem::path file(const std::string& name) {
    return std::filesystem::path(GSC_SOURCE_DIR) / "tests/files/0.1.0" / name;
  }
  /// Learned in 20 iterations.
  const ModelFile model = load_model(file(GetParam() + std::string(".h5")));
  /// The same after 10.
  const ModelFile checkpoint = load_model(file(GetParam() + std::string("-checkpoint.h5")));
  const std::unique_ptr<Data> data = open_data(file("data.npy").string());
  const bool factored = GetParam() == std::string("factored");
};

TEST_P(WrittenBy010, Loads) {
  EXPECT_EQ(model.version, "0.1.0");
  EXPECT_EQ(model.state.model.W.rows(), 9);
  EXPECT_EQ(model.state.model.W.cols(), 6);
  ASSERT_EQ(model.state.history.size(), 21U);
  ASSERT_EQ(checkpoint.state.history.size(), 11U);
  for (std::size_t t = 0; t < 11; ++t) {
    EXPECT_EQ(model.state.history[t].iteration, static_cast<int>(t));
    EXPECT_EQ(model.state.history[t].free_energy, checkpoint.state.history[t].free_energy);
  }
  ASSERT_TRUE(model.options.has_value() && checkpoint.options.has_value());
  EXPECT_TRUE(differing_options(*model.options, *checkpoint.options).empty());
  EXPECT_EQ(checkpoint.options->iterations, 10);
  EXPECT_EQ(checkpoint.options->seed, 5U);
  EXPECT_EQ(checkpoint.options->inference.threads, 1);
  EXPECT_EQ(checkpoint.options->inference.method, factored ? Method::factored : Method::truncated);
  EXPECT_EQ(checkpoint.options->inference.candidates, factored ? 10 : 4);
  EXPECT_EQ(checkpoint.options->inference.max_active, factored ? 5 : 3);
  EXPECT_EQ(checkpoint.state.method.column("codes").cols(), factored ? 80 : 0);
  EXPECT_EQ(model.state.model.W_variance.size() > 0, factored);
  EXPECT_NEAR(model.state.history.back().free_energy, factored ? -2313.99206 : -2150.51599, 1e-4);
}

TEST_P(WrittenBy010, ResumesToWhereThatVersionCame) {
  FitOptions options = *checkpoint.options;
  options.iterations = 20;
  const FitResult resumed = resume(*data, options, checkpoint.state);
  // Equal bits where the processor is the one they were made on; rounding elsewhere.
  ASSERT_EQ(resumed.state.history.size(), 21U);
  for (std::size_t t = 1; t < 21; ++t) {
    const double now = resumed.state.history[t].free_energy, then = model.state.history[t].free_energy;
    EXPECT_NEAR(now, then, 1e-8 * std::abs(then)) << "iteration " << t;
  }
  EXPECT_GT(resumed.last().free_energy, checkpoint.state.history.back().free_energy + 10);
  EXPECT_LT((resumed.model().W - model.state.model.W).cwiseAbs().maxCoeff(), 1e-5);

  // A model is taken up again, too.
  options.iterations = 60;
  const FitResult further = resume(*data, options, model.state);
  EXPECT_EQ(further.last().iteration, 60);
  if (factored) return;  // without the codes, which only checkpoints have, it may go elsewhere
  EXPECT_GT(further.last().free_energy, model.state.history.back().free_energy);
}

TEST_P(WrittenBy010, Infers) {
  const Posterior posterior = infer(model.state.model, *data, model.options->inference, {.variance = true});
  ASSERT_EQ(posterior.mean.rows(), 80);
  if (!factored) {
    const double expected = model.state.history.back().free_energy;
    EXPECT_NEAR(posterior.log_likelihood.sum(), expected, 1e-8 * std::abs(expected));
  }
  const Matrix values = read_all(*data);
  const Matrix left = values - posterior.mean * model.state.model.W.transpose();
  EXPECT_LT(left.squaredNorm(), 0.1 * values.squaredNorm());
}

INSTANTIATE_TEST_SUITE_P(Methods, WrittenBy010, ::testing::Values("truncated", "factored"),
                         [](const auto& test) { return std::string(test.param); });

// What is absent.

ModelFile factored_model() {
  ModelFile file = example_model(NoiseType::diagonal, SlabType::diagonal);
  file.state.model.W_variance = Matrix::Constant(4, 3, 0.25);
  file.state.method.numbers = {{"basis_divergence", 0.7}, {"length_scale", 1.3}};
  file.state.method.columns["codes"] = example(3, 5);
  FitOptions& options = *file.options;
  options.inference.method = Method::factored;
  options.inference.gap_memory = 77;
  options.noise_update = Update::exact;
  options.factored = {BasisPrior::gp, 1.25, false, SweepOrder::fixed};
  options.shape = {2, 2, 1};
  return file;
}

class Absent : public ::testing::Test {
 protected:
  /// A fresh file, changed through the HDF5 library.
  ModelFile load_after(const std::function<void(hid_t)>& change) {
    save_model(path, original, true);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change(file);
    H5Fclose(file);
    return load_model(path);
  }
  ModelFile load_without(const std::string& name) {
    return load_after([&](hid_t file) { EXPECT_GE(H5Ldelete(file, name.c_str(), H5P_DEFAULT), 0) << name; });
  }
  ModelFile load_without(const std::string& object, const std::string& attribute) {
    return load_after([&](hid_t file) {
      EXPECT_GE(H5Adelete_by_name(file, object.c_str(), attribute.c_str(), H5P_DEFAULT), 0) << attribute;
    });
  }
  std::vector<std::string> attributes(const std::string& object) {
    std::vector<std::string> names;
    load_after([&](hid_t file) {
      const hid_t id = H5Oopen(file, object.c_str(), H5P_DEFAULT);
      const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* all) {
        static_cast<std::vector<std::string>*>(all)->emplace_back(name);
        return herr_t{0};
      };
      H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect, &names);
      H5Oclose(id);
    });
    return names;
  }

  TemporaryFolder folder;
  std::filesystem::path path = folder / "model.h5";
  ModelFile original = factored_model();
};

TEST_F(Absent, OptionsHaveTheirDefaults) {
  const std::vector<std::string> names = attributes("/options");
  EXPECT_GE(names.size(), 22U);
  for (const std::string& name : names) {
    if (name == "method") continue;  // without it, the options of the factored method are not looked for
    SCOPED_TRACE(name);
    const ModelFile loaded = load_without("/options", name);
    const FitOptions& options = *loaded.options;
    if (name == "iterations" || name == "tolerance" || name == "threads") continue;  // compared below
    const std::vector<std::string> differing = differing_options(*original.options, options);
    // Defaults that the file happens to have, too, do not differ.
    if (name == "noise_update" || name == "known_noise" || name == "slab" || name == "shape_channels" ||
        name == "missing") {
      EXPECT_TRUE(differing.empty());
      continue;
    }
    ASSERT_EQ(differing.size(), 1U);
    EXPECT_EQ(differing[0].rfind(name + " (checkpoint ", 0), 0U) << differing[0];
  }
  EXPECT_EQ(load_without("/options", "method").options->inference.method, Method::truncated);
  EXPECT_EQ(load_without("/options", "iterations").options->iterations, FitOptions().iterations);
  EXPECT_EQ(load_without("/options", "tolerance").options->tolerance, FitOptions().tolerance);
  EXPECT_EQ(load_without("/options", "threads").options->inference.threads, 0);
  EXPECT_EQ(load_without("/options", "seed").options->seed, 1U);
  EXPECT_EQ(load_without("/options", "latents").options->latents, FitOptions().latents);
  EXPECT_EQ(load_without("/options", "sweep_order").options->factored.order, SweepOrder::random);
  EXPECT_FALSE(load_without("/options").options.has_value());
}

TEST_F(Absent, EverythingElseHasItsDefault) {
  EXPECT_EQ(load_without("/", "version").version, "");
  EXPECT_EQ(load_without("/", "format_version").state.model.W, original.state.model.W);
  EXPECT_EQ(load_without("/method/numbers/length_scale").state.method.number("length_scale", 0), 0);
  EXPECT_EQ(load_without("/method/numbers").state.method.number("basis_divergence", 2), 2);
  EXPECT_EQ(load_without("/method/columns").state.method.column("codes").size(), 0);
  EXPECT_EQ(load_without("/method").state.method.number("slab_acceleration", 1), 1);
  EXPECT_EQ(load_without("/history", "clamped_pivots").state.rescues.clamped_pivots, 0);
  const std::vector<std::string> names = attributes("/history");
  EXPECT_EQ(names.size(), 8U);
  for (const std::string& name : names) EXPECT_EQ(load_without("/history", name).state.history.size(), 3U);
  EXPECT_TRUE(load_without("/history").state.history.empty());
  const std::string message = error_of([&] { load_without("/", "kind"); });
  expect_says(message, "not a gsc model");
}

TEST_F(Absent, ColumnsOfTheHistoryHaveTheirDefaults) {
  const auto last = [&](const std::string& column) {
    const FitState state = load_without("/history/" + column).state;
    EXPECT_EQ(state.history.size(), 3U) << column;
    return state.history.back();
  };
  EXPECT_EQ(last("iteration").iteration, 2) << "rows are counted";
  EXPECT_EQ(last("iteration").free_energy, original.state.history.back().free_energy);
  EXPECT_EQ(last("free_energy").free_energy, 0);
  EXPECT_EQ(last("noise_std").noise_std, 0);
  EXPECT_EQ(last("mean_active").mean_active, 0);
  EXPECT_EQ(last("latents_in_use").latents_in_use, 0);
  EXPECT_EQ(last("seconds").seconds, 0);
  EXPECT_FALSE(last("dip").dip);
  EXPECT_EQ(last("rescues").rescues, 0);
  EXPECT_EQ(last("rescues").iteration, 2);
}

TEST_F(Absent, TheShapeTellsTheTypeOfNoiseAndSlab) {
  for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal, NoiseType::full})
    for (const SlabType slab : {SlabType::diagonal, SlabType::full}) {
      original = example_model(noise, slab);
      EXPECT_EQ(load_without("/parameters/noise", "type").state.model.noise.type(), noise);
      EXPECT_EQ(load_without("/parameters/slab", "type").state.model.slab.type(), slab);
    }
}

// What is newer.

class Newer : public Absent {
 protected:
  static void set_text(hid_t file, const char* object, const char* name, const std::string& text) {
    if (H5Aexists_by_name(file, object, name, H5P_DEFAULT) > 0) H5Adelete_by_name(file, object, name, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, text.size());
    const hid_t attribute = H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Awrite(attribute, type, text.data()), 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }
};

TEST_F(Newer, UnknownWordsAreNamedWithWhatToDo) {
  const auto message_with = [&](const char* object, const char* name, const char* word) {
    return error_of([&] {
      load_after([&](hid_t file) {
        set_text(file, "/", "version", "9.1.2");
        set_text(file, object, name, word);
      });
    });
  };
  const std::string method = message_with("/options", "method", "quantum");
  for (const char* part : {"model.h5", "option 'method' is 'quantum'", "truncated", "factored", "written by gsc 9.1.2",
                           "if that is newer, update gsc"})
    expect_says(method, part);
  const std::string noise = message_with("/parameters/noise", "type", "pink");
  for (const char* part : {"the type of /parameters/noise is 'pink'", "scalar", "9.1.2", "update gsc"})
    expect_says(noise, part);
}

TEST_F(Newer, FormatVersionsAreNamedWithWhatToDo) {
  const std::string message = error_of([&] {
    load_after([&](hid_t file) {
      set_text(file, "/", "version", "9.1.2");
      const hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
      const long long format = 7;
      H5Awrite(attribute, H5T_NATIVE_LLONG, &format);
      H5Aclose(attribute);
    });
  });
  for (const char* part : {"model.h5", "format version 7", "written by gsc 9.1.2", "reads up to 2", "update gsc"})
    expect_says(message, part);
}

TEST_F(Newer, OptionsThatWeDoNotKnowArePassedOver) {
  const ModelFile loaded = load_after([](hid_t file) { set_text(file, "/options", "flavour", "vanilla"); });
  EXPECT_TRUE(differing_options(*loaded.options, *original.options).empty());
}

}  // namespace
}  // namespace gsc::test
