#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "block.h"

namespace emulator {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t alignment = 256;
constexpr std::size_t forbidden = 16 << 20;

// | forbidden | guard of less than a page | data | guard of less than 256 bytes | forbidden |
struct Allocation {
    std::size_t bytes;
    unsigned char* map;
    std::size_t map_bytes;
    int device;
    std::string guards;  // what the first and then the second hold: compared as a whole after every launch
};

std::map<std::uintptr_t, Allocation> allocations;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// What a guard holds: NaNs, another in each place, so that a copy from guard to guard shows as well.
unsigned char guard_byte(std::uintptr_t address) {
    const std::uint32_t place = std::uint32_t(address / 4) * 2654435761u;
    const std::uint32_t word = 0xffff0000u | place >> 16;
    return word >> 8 * (address % 4) & 0xff;
}

// Calls `each` with the addresses of both guards.
template <class Each>
void for_guards(std::uintptr_t data, const Allocation& allocation, Each each) {
    const std::uintptr_t map = reinterpret_cast<std::uintptr_t>(allocation.map);
    const std::uintptr_t end = map + allocation.map_bytes - forbidden;
    for (std::uintptr_t at = map + forbidden; at != data; ++at) each(at);
    for (std::uintptr_t at = data + allocation.bytes; at != end; ++at) each(at);
}

unsigned char& byte_at(std::uintptr_t address) { return *reinterpret_cast<unsigned char*>(address); }

void check(std::uintptr_t data, const Allocation& allocation) {
    const unsigned char* begin = allocation.map + forbidden;
    const unsigned char* end = reinterpret_cast<unsigned char*>(data) + allocation.bytes;
    const std::size_t first = data - reinterpret_cast<std::uintptr_t>(begin);
    const std::string& guards = allocation.guards;
    if (!std::memcmp(begin, guards.data(), first) &&
        !std::memcmp(end, guards.data() + first, guards.size() - first))
        return;
    for_guards(data, allocation, [](std::uintptr_t at) {
        if (byte_at(at) != guard_byte(at)) fault("wrote " + describe(at));
    });
}

}  // namespace

void* allocate(std::size_t bytes, int device) {
    const std::size_t inner = round_up(std::max<std::size_t>(bytes, 1), alignment);
    const std::size_t open = round_up(inner, page), map_bytes = open + 2 * forbidden;
    void* map = mmap(nullptr, map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return nullptr;
    unsigned char* begin = static_cast<unsigned char*>(map);
    if (mprotect(begin + forbidden, open, PROT_READ | PROT_WRITE)) return nullptr;
    const std::uintptr_t data = reinterpret_cast<std::uintptr_t>(begin) + forbidden + open - inner;
    Allocation& made = allocations[data] = {bytes, begin, map_bytes, device, {}};
    for_guards(data, made, [&](std::uintptr_t at) {
        byte_at(at) = guard_byte(at);
        made.guards += char(guard_byte(at));
    });
    std::memset(reinterpret_cast<void*>(data), unwritten, bytes);
    return reinterpret_cast<void*>(data);
}

bool release(std::uintptr_t address) {
    const auto found = allocations.find(address);
    if (found == allocations.end()) return false;
    check(address, found->second);
    munmap(found->second.map, found->second.map_bytes);
    allocations.erase(found);
    return true;
}

bool holds(std::uintptr_t address, std::size_t bytes) {
    auto found = allocations.upper_bound(address);
    if (found == allocations.begin()) return false;
    --found;
    const std::size_t offset = address - found->first;
    return offset <= found->second.bytes && bytes <= found->second.bytes - offset;
}

std::size_t allocated_bytes(int device) {
    std::size_t sum = 0;
    for (const auto& [address, allocation] : allocations)
        if (allocation.device == device) sum += round_up(allocation.bytes, alignment);
    return sum;
}

void check_guards() {
    for (const auto& [address, allocation] : allocations) check(address, allocation);
}

std::string describe(std::uintptr_t address) {
    for (const auto& [data, allocation] : allocations) {
        const std::uintptr_t map = reinterpret_cast<std::uintptr_t>(allocation.map);
        if (address < map || address >= map + allocation.map_bytes) continue;
        const std::string size = " an allocation of " + std::to_string(allocation.bytes) + " bytes";
        if (address < data) return std::to_string(data - address) + " bytes before" + size;
        if (address < data + allocation.bytes)
            return std::to_string(address - data) + " bytes into" + size;
        return std::to_string(address - data - allocation.bytes) + " bytes past the end of" + size;
    }
    return "no allocation: not allocated, already freed, or far past an end";
}

}  // namespace emulator
