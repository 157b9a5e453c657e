// Device memory on the host, where every access past an end is found: each allocation ends within
// 256 bytes of memory that cannot be touched, and what lies between is checked after each kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emulator {

// All bits of memory not written yet are set: a NaN, or a negative number.
constexpr unsigned char unwritten = 0xff;

// Memory aligned as on the device; null if the machine has none.
void* allocate(std::size_t bytes, int device);

// False if nothing was allocated there.
bool release(std::uintptr_t address);

// Whether one allocation holds all these bytes.
bool holds(std::uintptr_t address, std::size_t bytes);

std::size_t allocated_bytes(int device);

// Ends the process if something wrote past the end of an allocation.
void check_guards();

// For a message: the place of an address among the allocations.
std::string describe(std::uintptr_t address);

}  // namespace emulator
