/// \file
/// The lanes of a warp, and the sets of them that 32-bit masks stand for.
#pragma once

#include <bit>
#include <cstdint>

namespace cpu {

constexpr unsigned kWarpSize = 32;

/// The lanes whose bits are set in a mask, in ascending order.
class Lanes {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint32_t left) : left_(left) {}
    constexpr unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(left_)); }
    constexpr Iterator& operator++() {
      left_ &= left_ - 1;
      return *this;
    }
    constexpr bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    std::uint32_t left_;
  };

  constexpr explicit Lanes(std::uint32_t mask) : mask_(mask) {}
  constexpr Iterator begin() const { return Iterator(mask_); }
  constexpr Iterator end() const { return Iterator(0); }

 private:
  std::uint32_t mask_;
};

/// For a loop: `for (const unsigned lane : lanes_of(mask))`.
constexpr Lanes lanes_of(std::uint32_t mask) { return Lanes(mask); }

/// The lowest lane of a mask that is not 0.
constexpr unsigned first_lane(std::uint32_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

}  // namespace cpu
