/// \file
/// A chapter's description: its arrays, its stages, its reference. Plain data and declarations only, since a
/// `chapter.cu` is compiled once for each device and must share no inline function with the rest of the
/// program.
#pragma once

namespace workbook {

/// The size of a problem, outermost dimension first: {n}, {rows, columns}, {m, k, n}, or five numbers for
/// attention. How many of them there are, the chapter says (Chapter::dims); the others have no meaning.
struct Shape {
  int dims[5];
};

/// The element type of an array.
enum class Type { kFloat32, kFloat64, kFloat16, kBFloat16, kInt8, kUint32 };

/// Bytes of one element.
int element_bytes(Type type);

/// Whether the type has no NaN and no rounding.
bool is_integer(Type type);

/// An input is filled by the chapter, scratch holds what one kernel leaves for the next, an output is
/// verified. A state holds what a launch leaves for the next run of a stage: it is zeros at first.
enum class Role { kInput, kScratch, kOutput, kState };

struct Array;

/// A few arrays of a chapter: {&kH, &kY}.
struct ArrayList {
  static constexpr int kMost = 16;
  const Array* items[kMost] = {};  ///< the first that is null ends it

  constexpr const Array* const* begin() const { return items; }
  constexpr const Array* const* end() const {
    const Array* const* one = items;
    while (one != items + kMost && *one) ++one;
    return one;
  }
};

/// For chapters with dropout, what the command line says of it.
struct DropoutOptions {
  double p = 0.1;               ///< --p: the probability that an element is dropped, from 0 to 1
  unsigned long long seed = 1;  ///< --seed
  unsigned long long offset =
      0;  ///< --offset: of the random numbers, other ones for each launch of a program
};

struct Data;

/// One array of a chapter: `count(shape)` elements, contiguous. In a chapter of several GPUs each of them has
/// one, with so many elements; on the host, and for references, these stand one after another.
struct Array {
  const char* name;
  Type type;
  Role role;
  long long (*count)(const Shape&);

  /// For an output, its values in double precision from the inputs on the host; null otherwise.
  /// `magnitude[i]` is the sum of the absolute values of the terms that element i is made of: float32
  /// arithmetic may be wrong by about `roundings * 2^-24 * magnitude[i]`, no more. verify.hpp says how the
  /// other types are compared.
  void (*reference)(const Data& host, double* expected, double* magnitude) = nullptr;

  /// For an output, the inputs that it is computed from.
  ArrayList of = {};

  /// The output whose reference is computed first: `reference` finds its values in `expected` and `magnitude`
  /// and overwrites them with its own. Null: there is none, and both hold zeros.
  const Array* after = nullptr;
};

/// An array of Ts, by which a stage finds it in its run: data[kX].
template <class T>
struct ArrayOf : Array {};

/// The Type of Ts. halves.hpp has the types of 16 bits, which each device has its own of.
template <class T>
inline constexpr Type kTypeOf = T::has_no_type;
template <>
inline constexpr Type kTypeOf<float> = Type::kFloat32;
template <>
inline constexpr Type kTypeOf<double> = Type::kFloat64;
template <>
inline constexpr Type kTypeOf<signed char> = Type::kInt8;
template <>
inline constexpr Type kTypeOf<unsigned> = Type::kUint32;

// Arrays by their roles. The functions that they name are Array's fields.

template <class T>
constexpr ArrayOf<T> input(const char* name, long long (*count)(const Shape&)) {
  return {{.name = name, .type = kTypeOf<T>, .role = Role::kInput, .count = count}};
}
template <class T>
constexpr ArrayOf<T> scratch(const char* name, long long (*count)(const Shape&)) {
  return {{.name = name, .type = kTypeOf<T>, .role = Role::kScratch, .count = count}};
}
template <class T>
constexpr ArrayOf<T> state(const char* name, long long (*count)(const Shape&)) {
  return {{.name = name, .type = kTypeOf<T>, .role = Role::kState, .count = count}};
}
template <class T>
constexpr ArrayOf<T> output(const char* name, long long (*count)(const Shape&),
                            void (*reference)(const Data&, double*, double*), ArrayList of,
                            const Array* after = nullptr) {
  return {{name, kTypeOf<T>, Role::kOutput, count, reference, of, after}};
}

/// The arrays of one run: device pointers in a stage, host pointers in `fill` and the references.
struct Data {
  Shape shape;
  const void* arrays;  ///< belongs to the harness
  int block = 0;       ///< in an exercise: threads of a block, where the kernel must be right for several
  bool exact = false;  ///< the inputs are such that no sum is rounded (Chapter::has_exact_inputs)
  DropoutOptions dropout = {};

  /// The elements of the array, of several GPUs those of `gpu`. \throws std::logic_error when the chapter
  /// does not have it
  void* elements(const Array& array, int gpu = 0) const;

  template <class T>
  [[gnu::always_inline]] T* of(const ArrayOf<T>& array, int gpu) const {
    return static_cast<T*>(elements(array, gpu));
  }
  template <class T>
  [[gnu::always_inline]] T* operator[](const ArrayOf<T>& array) const {
    return of(array, 0);
  }
};

/// Bytes that a stage should move between the SMs and the memory system: whole 32-byte sectors, as the
/// hardware does.
struct Traffic {
  long long read_bytes;
  long long write_bytes;
  /// Of read_bytes, those that were read before and that a cache still holds, such as weights that every
  /// row needs: they take none of the memory's bandwidth, so predictions leave them out. What rates and
  /// ceilings leave out beyond these, dram_traffic() says (harness/problem.hpp).
  long long repeated_bytes = 0;
  /// Of write_bytes, those of sectors that are written in parts, one after the other: the L2 cache merges the
  /// parts before the sector goes to DRAM.
  long long merged_bytes = 0;
  // Of read_bytes and write_bytes, those of other GPUs' memory, which pass over NVLink.
  long long peer_read_bytes = 0, peer_write_bytes = 0;

  long long memory_bytes() const { return read_bytes - repeated_bytes + write_bytes; }
};

/// What two kernels move, one after the other.
Traffic operator+(const Traffic& a, const Traffic& b);

/// Bytes of the 32-byte sectors that `count` contiguous values of `bytes_each` bytes occupy when they start
/// on a sector boundary.
long long sector_bytes(long long count, int bytes_each = 4);

/// Bytes of the sectors that the rows of a contiguous array touch, wherever each begins, when warps take
/// 32 * `width` elements of a row at a time from its start. `shape` is {rows, columns}.
long long row_sector_bytes(const Shape& shape, int bytes_each, int width);

/// In place of a stage's number of kernels: it may launch any number.
constexpr int kAnyNumber = -1;

/// One version of the chapter's operation. A stage's struct, below its kernel, has its `row` with the values
/// and, as functions of the same names, `run`, `traffic` and `suits`.
struct Stage {
  const char* name = nullptr;          ///< the name of its file without the ending; a second stage in the
                                       ///< same file has its number and a word
  const char* idea = nullptr;          ///< the one idea that it adds
  ArrayList output = {};               ///< what it computes, the first of several being shown
  int kernels = 1;                     ///< how many kernels it launches, on each GPU
  void (*run)(const Data&) = nullptr;  ///< launches them; null where this device cannot
  Traffic (*traffic)(const Shape&) = nullptr;  ///< the bytes it should move; null: see expected_traffic()
  int (*roundings)(const Shape&) = nullptr;    ///< roundings on the longest path to an element of the output
  int (*exact_roundings)(const Shape&) = nullptr;  ///< the same of exact inputs; null: it is not run on them
  /// Floating-point operations that the output needs, a multiplication and an addition counted as two. Given
  /// for all stages of a chapter that is bound by arithmetic, whose tables show FLOP a byte and TFLOP/s; else
  /// null.
  double (*flops)(const Shape&) = nullptr;
  const char* needs = nullptr;            ///< null, or what a device must have: "a GPU", "sm_90a"
  bool (*suits)(const Shape&) = nullptr;  ///< null: all shapes; else `needs` says which
  const char* against = nullptr;          ///< the stage that its speed-up is over; null: the first
  int capability = 0;                ///< the least compute capability of a GPU that can, such as 90 for 9.0
  bool no_other_capability = false;  ///< no greater one can either: sm_90a code runs on 9.0 alone
  /// Of several GPUs: a library exchanges data between them, also where none reaches another one's memory.
  bool exchanged_by_library = false;

  /// `row`, and what it does not say as this row has it: a row of its own says what several stages share.
  constexpr Stage with(Stage row) const {
    if (!row.output.items[0]) row.output = output;
    if (row.kernels == 1) row.kernels = kernels;
    if (!row.roundings) row.roundings = roundings;
    if (!row.exact_roundings) row.exact_roundings = exact_roundings;
    if (!row.flops) row.flops = flops;
    if (!row.needs) row.needs = needs;
    if (!row.against) row.against = against;
    if (!row.capability) row.capability = capability;
    if (!row.no_other_capability) row.no_other_capability = no_other_capability;
    if (!row.exchanged_by_library) row.exchanged_by_library = exchanged_by_library;
    return row;
  }
};

/// The row of a stage's struct with its functions, or those of the struct that it names as `Runs`. A stage
/// for GPUs alone has none where it is compiled for the CPU device, and is listed there with what it needs.
template <class Host>
constexpr Stage stage(Stage row = Host::row) {
  if constexpr (requires { typename Host::Runs; }) row = stage<typename Host::Runs>(row);
  if constexpr (requires { Host::run; }) {
    row.run = Host::run;
    row.traffic = Host::traffic;
  }
  if constexpr (requires { Host::suits; }) row.suits = Host::suits;
  return row;
}

/// The stages of a chapter, in order.
template <class... Hosts>
inline constexpr Stage kLadder[] = {stage<Hosts>()...};

/// An array of the program and its length.
template <class T>
struct List {
  const T* items = nullptr;
  int count = 0;

  constexpr List() = default;
  constexpr List(const T* first, int length) : items(first), count(length) {}
  template <int N>
  consteval List(const T (&array)[N]) : items(array), count(N) {}

  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + count; }
  constexpr const T& operator[](int i) const { return items[i]; }
};

/// One chapter on one device.
struct Chapter {
  const char* name;     ///< "01_multiply_add"
  const char* formula;  ///< what every stage computes
  const char* dims;     ///< how `--size` is written: "N", "RxC", "MxKxN", "GxRxC" or "HxGxQxKxD"

  List<const Array*> arrays;
  List<Stage> stages;
  List<Shape> sweep;  ///< the shapes of `--sweep`, smallest first

  Shape cpu_shape;  ///< what is run when no `--size` is given
  Shape gpu_shape;

  /// Fills the inputs, on the host: random, asymmetric, never constant.
  void (*fill)(const Data& host);

  /// The shapes for which `fill` and the references know Data::exact: inputs whose sums and products no
  /// float32 rounds, whatever their order. The bound on errors then does not grow with the number of terms,
  /// so one rounding too many shows, and one term too few. Null: there are none.
  bool (*has_exact_inputs)(const Shape&) = nullptr;

  /// The unit that the tables count bytes per, and how many units a problem has; null: the elements of the
  /// largest output.
  const char* unit = "element";
  long long (*units)(const Shape&) = nullptr;

  /// The number of GPUs that a problem is spread over; null: one.
  int (*gpus)(const Shape&) = nullptr;

  bool has_dropout = false;     ///< the options --p, --seed and --offset are accepted
  DropoutOptions dropout = {};  ///< what they say
};

/// Chapter::gpus, or 1.
int gpus_of(const Chapter& chapter, const Shape& shape);

/// For fills and references: body(what, i) for each i from 0 to count - 1, on all cores of the host.
void on_all_cores(long long count, void (*body)(const void* what, long long i), const void* what);

/// The same for a lambda: body(i).
template <class Body>
void on_all_cores(long long count, const Body& body) {
  on_all_cores(
      count, [](const void* what, long long i) { (*static_cast<const Body*>(what))(i); }, &body);
}

/// For references: product[r * n + c] = the sum of x[r * k + i] * w[c * k + i] over i < k, on all cores of
/// the host. `size` gets for each what the absolute values of the terms add up to at most (Cauchy and
/// Schwarz).
void product_of_rows(const float* x, const float* w, int m, int k, int n, double* product, double* size);

/// The same for rows of bfloat16.
void product_of_bfloat16_rows(const void* x, const void* w, int m, int k, int n, double* product,
                              double* size);

/// For references: on exact inputs the magnitude of a sum is its own, on others it stays.
void take_own_magnitude(const Data& host, long long count, const double* expected, double* magnitude);

/// For references of chapters of shape {m, k, n} with an array "bias" of n floats: `expected` holds a product
/// of m x n elements, with its magnitude, and becomes gelu(product + bias).
void reference_bias_gelu(const Data& host, double* expected, double* magnitude);

/// The same with the tanh form of GELU.
void reference_bias_gelu_tanh(const Data& host, double* expected, double* magnitude);

/// Fills `data[0, count)` with numbers from the uniform distribution over [low, high): number i depends on
/// `seed` and i alone.
void fill_uniform(float* data, long long count, float low, float high, unsigned seed);

/// The same with whole numbers from -most to most.
void fill_whole(float* data, long long count, int most, unsigned seed);

}  // namespace workbook
