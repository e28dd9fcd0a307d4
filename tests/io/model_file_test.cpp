// The model file: what is saved is loaded bit for bit; what is broken is named.

#include <gsc/files.h>
#include <gsc/option_list.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "io_support.h"
#include "option_support.h"

namespace gsc::test {
namespace {

using Types = std::tuple<NoiseType, SlabType>;

class EveryType : public ::testing::TestWithParam<Types> {};

TEST_P(EveryType, RoundTrip) {
  const auto [noise, slab] = GetParam();
  const TemporaryFolder folder;
  ModelFile saved = example_model(noise, slab);
  saved.version = "of an earlier program";
  save_model(folder / "m.h5", saved);
  const ModelFile loaded = load_model(folder / "m.h5");

  EXPECT_FALSE(loaded.version.empty());
  EXPECT_NE(loaded.version, saved.version) << "the file must name the program that wrote it";
  const Model& model = loaded.state.model;
  EXPECT_EQ(model.W, saved.state.model.W);
  EXPECT_EQ(model.pi, saved.state.model.pi);
  EXPECT_EQ(model.mu, saved.state.model.mu);
  EXPECT_EQ(model.slab.type(), slab);
  EXPECT_EQ(model.slab.values(), saved.state.model.slab.values());
  EXPECT_EQ(model.noise.type(), noise);
  EXPECT_EQ(model.noise.dimensions(), 4);
  EXPECT_EQ(model.noise.values(), saved.state.model.noise.values());

  EXPECT_EQ(loaded.state.model.intercept, saved.state.model.intercept);
  EXPECT_EQ(loaded.state.method.number("slab_acceleration", 1), saved.state.method.number("slab_acceleration", 1));
  const Rescues& rescues = loaded.state.rescues;
  EXPECT_EQ(rescues.unused_latents, 1);
  EXPECT_EQ(rescues.floored_pi, 2);
  EXPECT_EQ(rescues.floored_slab, 3);
  EXPECT_EQ(rescues.floored_noise, 4);
  EXPECT_EQ(rescues.slab_fallbacks, 5);
  EXPECT_EQ(rescues.clamped_pivots, std::int64_t{1} << 60);
  ASSERT_EQ(loaded.state.history.size(), saved.state.history.size());
  for (std::size_t t = 0; t < loaded.state.history.size(); ++t) {
    const IterationReport& a = loaded.state.history[t];
    const IterationReport& b = saved.state.history[t];
    EXPECT_EQ(a.iteration, b.iteration);
    EXPECT_EQ(a.free_energy, b.free_energy);
    EXPECT_EQ(a.noise_std, b.noise_std);
    EXPECT_EQ(a.mean_active, b.mean_active);
    EXPECT_EQ(a.latents_in_use, b.latents_in_use);
    EXPECT_EQ(a.seconds, b.seconds);
    EXPECT_EQ(a.dip, b.dip);
    EXPECT_EQ(a.rescues, b.rescues);
  }

  ASSERT_TRUE(loaded.options.has_value());
  const FitOptions& options = *loaded.options;
  EXPECT_TRUE(differing_options(options, *saved.options).empty());
  EXPECT_EQ(options.seed, saved.options->seed);
  EXPECT_EQ(options.iterations, 17);
  EXPECT_EQ(options.tolerance, 0.1);
  EXPECT_EQ(options.inference.threads, 7);
}

TEST(Options, EachIsKeptAndCompared) {
  const TemporaryFolder folder;
  ModelFile file = example_model(NoiseType::scalar, SlabType::diagonal);
  const FitOptions all;
  for_each_option(all, [&](const OptionInfo& option, const auto&) {
    SCOPED_TRACE(option.name);
    FitOptions usual;  // of a method that has it, so that it is in the file
    usual.inference.method = option.read_by(Method::factored)
                                 ? Method::factored
                                 : *std::find_if(kValues<Method>.begin(), kValues<Method>.end(),
                                                 [&](Method m) { return option.read_by(m); });
    usual.inference = usual.inference.resolved(usual.latents);
    file.options = changed(usual, option.name);
    const bool kept = option.on_resume == OnResume::keep;
    const std::vector<std::string> differing = differing_options(usual, *file.options);
    EXPECT_EQ(!differing.empty(), kept);
    if (kept) {
      EXPECT_TRUE(differing.front().starts_with(option.name)) << differing.front();
    }
    save_model(folder / "m.h5", file);
    const FitOptions loaded = *load_model(folder / "m.h5").options;
    EXPECT_EQ(texts_of(loaded), texts_of(option.on_resume == OnResume::forget
                                             ? usual
                                             : options_for(*file.options, file.options->inference.method)));
  });
}

INSTANTIATE_TEST_SUITE_P(Types, EveryType,
                         ::testing::Combine(::testing::Values(NoiseType::scalar, NoiseType::diagonal, NoiseType::full),
                                            ::testing::Values(SlabType::diagonal, SlabType::full)),
                         [](const auto& test) {
                           return std::string(to_string(std::get<0>(test.param))) + "_" +
                                  std::string(to_string(std::get<1>(test.param)));
                         });

class ModelFiles : public ::testing::Test {
 protected:
  ModelFiles() { save_model(path, example_model(NoiseType::diagonal, SlabType::full)); }

  std::string load_error() {
    const std::string message = error_of([&] { load_model(path); });
    EXPECT_EQ(message.rfind(path.string(), 0), 0U) << message;
    return message;
  }
  /// Changes the saved file through the HDF5 library, then says how loading fails.
  std::string error_after(const std::function<void(hid_t)>& change) {
    save_model(path, example_model(NoiseType::diagonal, SlabType::full));
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change(file);
    H5Fclose(file);
    return load_error();
  }
  static void replace(hid_t file, const char* name, const std::vector<hsize_t>& shape, double value) {
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t dataset = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)), value);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Sclose(space);
  }
  static void set_integer(hid_t file, const char* object, const char* name, long long value) {
    const hid_t id = H5Oopen(file, object, H5P_DEFAULT);
    const hid_t attribute = H5Aopen(id, name, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_LLONG, &value);
    H5Aclose(attribute);
    H5Oclose(id);
  }

  TemporaryFolder folder;
  std::filesystem::path path = folder / "model.h5";
};

TEST_F(ModelFiles, OptionsAndHistoryMayBeAbsent) {
  ModelFile bare = example_model(NoiseType::scalar, SlabType::diagonal);
  bare.options.reset();
  bare.state.history.clear();
  save_model(path, bare);
  const ModelFile loaded = load_model(path);
  EXPECT_FALSE(loaded.options.has_value());
  EXPECT_TRUE(loaded.state.history.empty());
}

TEST_F(ModelFiles, IsAnHdf5FileOfTheDocumentedNames) {
  const ModelFile saved = example_model(NoiseType::diagonal, SlabType::full);
  EXPECT_EQ(read_all(path.string() + ":/parameters/W"), saved.state.model.W);
  EXPECT_EQ(read_all(path.string() + ":/parameters/slab"), saved.state.model.slab.values());
  EXPECT_EQ(read_all(path.string() + ":/parameters/noise"), saved.state.model.noise.values());
  EXPECT_EQ(read_all(path.string() + ":/history/free_energy")(1, 0), -5e4);
}

TEST_F(ModelFiles, BrokenMembersAreNamed) {
  const auto remove = [](const char* name) { return [=](hid_t file) { H5Ldelete(file, name, H5P_DEFAULT); }; };
  for (const char* name :
       {"/parameters/W", "/parameters/pi", "/parameters/mu", "/parameters/slab", "/parameters/noise"})
    expect_says(error_after(remove(name)), {name, "is missing; the file is damaged"});
  expect_says(error_after([](hid_t file) { replace(file, "/parameters/pi", {5}, 0.5); }),
              "/parameters/pi has shape 5; expected 3");
  expect_says(error_after([](hid_t file) { replace(file, "/parameters/W", {3}, 0.5); }),
              "/parameters/W has shape 3; expected any x any");
  expect_says(error_after([](hid_t file) { replace(file, "/parameters/pi", {3}, 1.5); }),
              {"pi of latent 0 is 1.5", "between 0 and 1"});
  expect_says(error_after([](hid_t file) { replace(file, "/parameters/slab", {3, 3}, 1); }), "not positive definite");
  expect_says(error_after([](hid_t file) { replace(file, "/history/seconds", {5}, 1); }),
              "/history/seconds has shape 5; expected 3");
  expect_says(error_after([](hid_t file) { replace(file, "/history/iteration", {3}, 0.5); }), "/history/iteration");
  expect_says(error_after([](hid_t file) { set_integer(file, "/options", "threads", 1LL << 40); }), "'threads'");
  expect_says(error_after([](hid_t file) {
                H5Ldelete(file, "/parameters/mu", H5P_DEFAULT);
                H5Gclose(H5Gcreate2(file, "/parameters/mu", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
              }),
              "/parameters/mu");
}

TEST_F(ModelFiles, OtherFilesAndVersions) {
  const std::string newer = error_after([](hid_t file) { set_integer(file, "/", "format_version", 3); });
  expect_says(newer, "format version 3");
  expect_says(newer, "update gsc");
  write_hdf5(path, example(2, 2));
  expect_says(load_error(), "not a gsc model");
  write_file(path, "text");
  expect_says(load_error(), "is not a model file: by its first bytes it is text");
  std::filesystem::remove(path);
  expect_says(load_error(), "no such model file");
}

TEST_F(ModelFiles, TheCallersErrorHandlerOfHdf5Stays) {
  static int errors = 0;
  const auto count = [](hid_t, void*) {
    ++errors;
    return herr_t{0};
  };
  H5E_auto2_t before = nullptr;
  void* before_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &before_data);
  H5Eset_auto2(H5E_DEFAULT, count, &errors);
  load_model(path);
  write_file(path, "text");
  load_error();
  EXPECT_EQ(errors, 0) << "what HDF5 cannot read is ours to tell";
  H5E_auto2_t after = nullptr;
  void* after_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &after, &after_data);
  EXPECT_EQ(after, static_cast<H5E_auto2_t>(count));
  EXPECT_EQ(after_data, &errors);
  EXPECT_LT(H5Fopen("no such file", H5F_ACC_RDONLY, H5P_DEFAULT), 0);
  EXPECT_EQ(errors, 1) << "the caller's own errors are still told to the caller";
  H5Eset_auto2(H5E_DEFAULT, before, before_data);
}

TEST_F(ModelFiles, NothingIsPrintedWhenTheProcessEndsAfterDamagedFiles) {
  const auto load_damaged = [&] {
    const std::string bytes = read_file(path);
    for (std::size_t i = 100; i < bytes.size(); i += 100) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(~damaged[i]);
      write_file(path, damaged);
      try {
        load_model(path);
      } catch (const Error&) {
        continue;
      }
    }
    std::exit(0);
  };
  EXPECT_EXIT(load_damaged(), ::testing::ExitedWithCode(0), ::testing::Matcher<const std::string&>(::testing::Eq("")));
}

TEST_F(ModelFiles, FullDiskLeavesTheOldFile) {
  const std::string before = read_file(path);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{1000, old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = error_of([&] { save_model(path, example_model(NoiseType::scalar, SlabType::diagonal)); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  expect_says(message, {path.string(), "make room"});
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST_F(ModelFiles, DifferingOptions) {
  FitOptions checkpoint;
  FitOptions now = checkpoint;
  now.iterations += 5;
  now.tolerance = 0;
  now.inference.threads = 3;
  EXPECT_TRUE(differing_options(checkpoint, now).empty());
  now.inference.candidates = 8;
  now.noise = NoiseType::full;
  now.seed = 9;
  EXPECT_EQ(differing_options(checkpoint, now),
            (std::vector<std::string>{"candidates (checkpoint 10, now 8)", "noise (checkpoint scalar, now full)",
                                      "seed (checkpoint 1, now 9)"}));
}

TEST_F(ModelFiles, CheckpointsEverySoManyIterations) {
  const auto target = folder / "checkpoint.h5";
  const ModelFile file = example_model(NoiseType::scalar, SlabType::diagonal);
  Checkpoint checkpoint(target, *file.options, 2);
  FitState state = file.state;
  state.history.resize(1);
  checkpoint.on_iteration(state);
  EXPECT_FALSE(std::filesystem::exists(target)) << "the starting point needs no checkpoint";
  state.history.push_back(file.state.history[1]);
  checkpoint.on_iteration(state);
  EXPECT_FALSE(std::filesystem::exists(target));
  state.history.push_back(file.state.history[2]);
  checkpoint.on_iteration(state);
  EXPECT_EQ(load_model(target).state.history.size(), 3U);
  state.history.resize(2);
  checkpoint.save(state);
  EXPECT_EQ(load_model(target).state.history.size(), 2U);
}

}  // namespace
}  // namespace gsc::test
