// What a library must leave as it found it: BLAS' and OpenMP's numbers of threads, signal handlers, the locale, the
// floating-point environment, stderr. Each call runs in odd surroundings, while another thread multiplies matrices.

#include <cblas.h>
#include <fcntl.h>
#include <gsc/denoise.h>
#include <gsc/missing.h>
#include <gsc/restarts.h>
#include <gsc/separate.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <array>
#include <atomic>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "factored/engine.h"
#include "math/numeric_scope.h"
#include "tasks/denoise/plan.h"
#include "tasks/denoise/reconstruct.h"

namespace gsc::test {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGPIPE, SIGFPE, SIGXFSZ};
constexpr int kBlasThreads = 2, kOpenMpThreads = 3;

// The register behind it all on x86-64; <cfenv> does not know its bits for small numbers.
#ifdef __x86_64__
constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
unsigned control_bits() { return _mm_getcsr(); }
void flush_to_zero() { _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero); }
#else
unsigned control_bits() { return 0; }
void flush_to_zero() {}
#endif

void our_handler(int /*signal*/) { std::_Exit(99); }

struct Surroundings {
  int blas_threads = openblas_get_num_threads();
  int openmp_threads = omp_get_max_threads();
  std::string locale = std::setlocale(LC_ALL, nullptr);
  int rounding = std::fegetround();
  int traps = ::fegetexcept();
  int flags = std::fetestexcept(FE_ALL_EXCEPT);
  unsigned control = control_bits();
  std::array<struct sigaction, kSignals.size()> signals{};
  Surroundings() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &signals[i]);
  }
};

void expect_equal(const Surroundings& after, const Surroundings& before) {
  EXPECT_EQ(after.blas_threads, before.blas_threads);
  EXPECT_EQ(after.openmp_threads, before.openmp_threads);
  EXPECT_EQ(after.locale, before.locale);
  EXPECT_EQ(after.rounding, before.rounding);
  EXPECT_EQ(after.traps, before.traps);
  EXPECT_EQ(after.flags, before.flags);
  EXPECT_EQ(after.control, before.control);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    EXPECT_EQ(after.signals[i].sa_handler, before.signals[i].sa_handler) << "signal " << kSignals[i];
    EXPECT_EQ(after.signals[i].sa_flags, before.signals[i].sa_flags) << "signal " << kSignals[i];
  }
}

/// What goes to file descriptor 2 while it lives, whoever writes it.
class StderrFile {
 public:
  StderrFile() : file_(std::tmpfile()), saved_(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    ::dup2(::fileno(file_), STDERR_FILENO);
  }
  ~StderrFile() {
    std::fflush(stderr);
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    std::fclose(file_);
  }
  StderrFile(const StderrFile&) = delete;
  StderrFile& operator=(const StderrFile&) = delete;
  long size() const {
    std::fflush(stderr);
    return static_cast<long>(::lseek(::fileno(file_), 0, SEEK_END));
  }

 private:
  std::FILE* file_;
  int saved_;
};

/// Multiplies matrices of small whole numbers, whose product is exact in any order, until it is gone.
class OtherBlasUser {
 public:
  OtherBlasUser() : thread_([this] { work(); }) {
    while (products_ == 0) std::this_thread::yield();
  }
  ~OtherBlasUser() {
    stop_ = true;
    thread_.join();
    EXPECT_EQ(wrong_, 0) << "of " << products_ << " products";
  }
  OtherBlasUser(const OtherBlasUser&) = delete;
  OtherBlasUser& operator=(const OtherBlasUser&) = delete;

 private:
  void work() {
    constexpr int kSize = 160;  // large enough for OpenBLAS to use its threads
    Matrix A(kSize, kSize), B(kSize, kSize), C(kSize, kSize);
    for (Index i = 0; i < kSize; ++i)
      for (Index j = 0; j < kSize; ++j) {
        A(i, j) = static_cast<double>((3 * i + 5 * j) % 17 - 8);
        B(i, j) = static_cast<double>((7 * i + 2 * j) % 13 - 6);
      }
    const Matrix expected = A.lazyProduct(B);
    while (!stop_) {
      C.setConstant(-1);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize, 1, A.data(), kSize, B.data(), kSize,
                  0, C.data(), kSize);
      if (C != expected) ++wrong_;
      ++products_;
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<int> products_ = 0, wrong_ = 0;
  std::thread thread_;
};

void set_thread_numbers() {
  openblas_set_num_threads(kBlasThreads);
  omp_set_num_threads(kOpenMpThreads);  // last: an OpenBLAS built with OpenMP has just set it, too
}

/// Rounds upward, flushes small numbers to zero, traps what is no number, and has two flags raised.
void make_odd_floating_point() {
  std::fesetround(FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_INEXACT | FE_UNDERFLOW);
  flush_to_zero();
  ::feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
}

class Manners : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(std::setlocale(LC_ALL, "C.UTF-8"), nullptr);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      action.sa_handler = our_handler;
      action.sa_flags = SA_RESTART;
      ::sigaction(kSignals[i], &action, &handlers_[i]);
    }
    set_thread_numbers();
  }
  void TearDown() override {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &handlers_[i], nullptr);
  }

  /// Runs `call` in odd surroundings; they must be the same after it, also if it throws, which `throws` expects. What
  /// it returns must be what it returns in usual ones.
  void expect_manners(const std::string& name, const std::function<Matrix()>& call, bool throws = false) {
    SCOPED_TRACE(name);
    const Matrix usual = throws ? Matrix() : call();
    const OtherBlasUser other;
    Matrix result;
    bool thrown = false;
    long written = 0;
    std::fenv_t environment;
    std::fegetenv(&environment);
    {
      const StderrFile captured;
      set_thread_numbers();  // whatever the call before has left of them
      make_odd_floating_point();
      const Surroundings before;
      try {
        result = call();
      } catch (const Error&) {
        thrown = true;
      }
      const Surroundings after;
      std::fesetenv(&environment);
      written = captured.size();
      expect_equal(after, before);
    }
    EXPECT_EQ(written, 0) << "bytes on stderr";
    EXPECT_EQ(thrown, throws);
    EXPECT_EQ(result, usual);
  }

 private:
  std::array<struct sigaction, kSignals.size()> handlers_{};
};

constexpr Index kDimensions = 12, kLatents = 6;

MatrixData example_data(Index rows = 1500) {
  Random random(4);
  Matrix W = Matrix::Zero(kDimensions, kLatents);
  for (Index h = 0; h < kLatents; ++h) W.col(h).segment(2 * h, 2).setConstant(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Matrix values(rows, kDimensions);
  for (Index n = 0; n < rows; ++n) {
    for (double& value : values.row(n)) value = 0.5 * normal(random);
    for (Index h = 0; h < kLatents; ++h)
      if (uniform(random) < 0.25) values.row(n) += normal(random) * W.col(h).transpose();
  }
  return MatrixData(values);
}

FitOptions options_of(Method method) {
  FitOptions options;
  options.latents = kLatents;
  options.inference.method = method;
  options.inference.candidates = 4;
  options.inference.max_active = 3;
  options.inference.threads = 2;
  options.iterations = 4;
  options.tolerance = 0;
  return options;
}

constexpr std::array kMethods{Method::truncated, Method::exact, Method::factored};

TEST_F(Manners, FitAndInfer) {
  const MatrixData data = example_data();
  for (const Method method : kMethods) {
    const FitOptions options = options_of(method);
    const FitResult learned = fit(data, options);
    expect_manners("fit, " + std::string(to_string(method)), [&] { return fit(data, options).model().W; });
    expect_manners("infer, " + std::string(to_string(method)),
                   [&] { return infer(learned.model(), data, options.inference, {.variance = true}).variance; });
    expect_manners("resume, " + std::string(to_string(method)), [&] {
      FitOptions longer = options;
      longer.iterations += 2;
      return resume(data, longer, learned.state).model().W;
    });
  }
}

TEST_F(Manners, Dictionaries) {
  const MatrixData data = example_data();
  FitOptions options;
  options.latents = kLatents;
  options.inference.method = Method::ksvd;
  options.inference.threads = 2;
  options.iterations = 3;
  const Model model = fit(data, options).model();
  expect_manners("fit, ksvd", [&] { return fit(data, options).model().W; });
  expect_manners("infer, ksvd", [&] { return infer(model, data, options.inference).mean; });
  expect_manners("impute, ksvd",
                 [&] { return impute(model, data, options.inference, {.denoise_observed = true}).mean; });
}

TEST_F(Manners, FitOfEveryNoiseAndSlab) {
  const MatrixData data = example_data(400);
  for (const NoiseType noise : {NoiseType::diagonal, NoiseType::full})
    for (const SlabType slab : {SlabType::diagonal, SlabType::full}) {
      FitOptions options = options_of(Method::truncated);
      options.noise = noise;
      options.slab = slab;
      options.inference.precision = Precision::single_precision;
      expect_manners("fit", [&] { return fit(data, options).model().slab.covariance(); });
    }
  FitOptions gp = options_of(Method::factored);
  gp.factored.basis_prior = BasisPrior::gp;
  expect_manners("fit, gp", [&] { return fit(data, gp).model().W; });
}

TEST_F(Manners, Steps) {
  const MatrixData data = example_data();
  for (const Method method : kMethods) {
    const FitOptions options = options_of(method);
    const Model model = fit(data, options).model();
    expect_manners("e_step", [&] { return e_step(model, data, options.inference).YZ; });
    const Statistics statistics = e_step(model, data, options.inference);
    expect_manners("m_step", [&] {
      Rescues rescues;
      return m_step(model, statistics, {}, rescues).W;
    });
  }
  const Model model = fit(data, options_of(Method::factored)).model();
  expect_manners("factored_step", [&] {
    Matrix codes;
    factored_step(model, data, options_of(Method::factored).inference, {5, 4, 3, 2, 1, 0}, {}, codes);
    return codes;
  });
}

TEST_F(Manners, FitRestartsAndSeparate) {
  const MatrixData data = example_data(300);
  FitOptions options = options_of(Method::exact);
  options.init = Init::random;
  expect_manners("fit_restarts", [&] { return fit_restarts(data, options, 4).best.model().W; });
  SeparateOptions separation;
  separation.learning.iterations = 4;
  separation.restarts = 3;
  separation.whiten = Whiten::on;
  const Matrix mixture = data.values().leftCols(4).transpose();
  expect_manners("separate", [&] { return separate(mixture, separation).mixing; });
}

Picture example_picture() {
  Picture picture;
  picture.channels.emplace_back(40, 48);
  Random random(8);
  std::normal_distribution<double> normal(0, 15);
  for (Index y = 0; y < 40; ++y)
    for (Index x = 0; x < 48; ++x) picture.channels[0](y, x) = ((x / 12 + y / 10) % 2 == 0 ? 70 : 170) + normal(random);
  return picture;
}

TEST_F(Manners, DenoiseAndReconstruct) {
  const Picture picture = example_picture();
  for (const Method method : {Method::truncated, Method::factored}) {
    DenoiseOptions options;
    options.learning.inference.method = method;
    options.quality = Quality::fast;
    options.learning.iterations = 3;
    options.learning.latents = 16;
    options.patch = 6;
    options.learning.inference.threads = 2;
    const Denoised denoised = denoise(picture, options);
    expect_manners("denoise", [&] { return denoise(picture, options).picture.channels[0]; });
    const ModelPlan plan = plan_denoising(picture, options, denoised.noise).models.front();
    const Model& model = denoised.learned.front().fit.model();
    expect_manners("reconstruct", [&] { return reconstruct(picture, model, plan, {}).picture.channels[0]; });
  }
}

/// Throws in the middle of the second pass.
class FailingData final : public Data {
 public:
  explicit FailingData(MatrixData data) : data_(std::move(data)) {}
  Index rows() const override { return data_.rows(); }
  Index cols() const override { return data_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    rows_read_ += block.rows();
    if (rows_read_ > 5 * rows() / 2) throw Error("the disk is gone");
    data_.read(first, block);
  }

 private:
  MatrixData data_;
  mutable std::atomic<Index> rows_read_ = 0;
};

TEST_F(Manners, CallsThatThrow) {
  const MatrixData data = example_data();
  for (const Method method : kMethods) {
    const FitOptions options = options_of(method);
    expect_manners(
        "fit", [&] { return fit(FailingData(data), options).model().W; }, true);
    const Model model = fit(data, options).model();
    expect_manners(
        "infer", [&] { return infer(model, data, options.inference, {}, 0, -1, [] { return true; }).mean; }, true);
    const MatrixData narrow(data.values().leftCols(3));
    expect_manners(
        "infer", [&] { return infer(model, narrow, options.inference).mean; }, true);
  }
  expect_manners(
      "fit_restarts", [&] { return fit_restarts(FailingData(data), options_of(Method::exact), 3).best.model().W; },
      true);
  expect_manners(
      "separate", [&] { return separate(Matrix::Ones(3, 50), {}).mixing; }, true);
  Picture flat = example_picture();
  flat.channels[0].setConstant(5);
  expect_manners(
      "denoise", [&] { return denoise(flat, {}).picture.channels[0]; }, true);
}

TEST_F(Manners, FitsSideBySide) {
  const MatrixData data = example_data();
  const FitOptions options = options_of(Method::truncated);
  const Matrix alone = fit(data, options).model().W;
  set_thread_numbers();
  const Surroundings before;
  {
    const OtherBlasUser other;
    std::array<Matrix, 2> learned;
    std::array<std::thread, 2> threads;
    for (std::size_t i = 0; i < threads.size(); ++i)
      threads[i] = std::thread([&, i] {
        for (int k = 0; k < 5; ++k) learned[i] = fit(data, options).model().W;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(learned[0], alone);
    EXPECT_EQ(learned[1], alone);
  }
  expect_equal(Surroundings(), before);
}

TEST_F(Manners, ScopesOfSeveralThreadsAreCounted) {
  if (openblas_get_parallel() != OPENBLAS_THREAD) GTEST_SKIP() << "this BLAS has no threads of its own";
  std::atomic<int> step = 0;
  const auto wait_for = [&](int wanted) {
    while (step < wanted) std::this_thread::yield();
  };
  std::thread other([&] {
    wait_for(1);
    const NumericScope scope;
    step = 2;
    wait_for(3);
  });
  {
    const NumericScope outer;
    const NumericScope inner;
    EXPECT_EQ(openblas_get_num_threads(), 1);
    step = 1;
    wait_for(2);
  }
  EXPECT_EQ(openblas_get_num_threads(), 1) << "the other thread is still at it";
  step = 3;
  other.join();
  EXPECT_EQ(openblas_get_num_threads(), kBlasThreads);
}

TEST_F(Manners, WhatSomebodyElseSetsMeanwhileStays) {
  if (openblas_get_parallel() != OPENBLAS_THREAD) GTEST_SKIP() << "this BLAS has no threads of its own";
  {
    const NumericScope scope;
    openblas_set_num_threads(kBlasThreads + 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), kBlasThreads + 1) << "set and left";
  {
    const NumericScope scope;
    openblas_set_num_threads(kBlasThreads);
    const NumericScope nested;
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), kBlasThreads) << "set, then another scope began";
  openblas_set_num_threads(1);
  { const NumericScope scope; }
  EXPECT_EQ(openblas_get_num_threads(), 1);
}

}  // namespace
}  // namespace gsc::test
