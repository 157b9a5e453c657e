#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>

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
};

std::map<std::uintptr_t, Allocation> allocations;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

void check(std::uintptr_t address, const Allocation& allocation) {
    const unsigned char* data = reinterpret_cast<unsigned char*>(address);
    const unsigned char* first = allocation.map + forbidden;
    const unsigned char* last = allocation.map + allocation.map_bytes - forbidden;
    const auto written = [](unsigned char byte) { return byte != unwritten; };
    const unsigned char* before = std::find_if(first, data, written);
    const unsigned char* after = std::find_if(data + allocation.bytes, last, written);
    if (before != data) fault("wrote " + describe(reinterpret_cast<std::uintptr_t>(before)));
    if (after != last) fault("wrote " + describe(reinterpret_cast<std::uintptr_t>(after)));
}

}  // namespace

void* allocate(std::size_t bytes, int device) {
    const std::size_t inner = round_up(std::max<std::size_t>(bytes, 1), alignment);
    const std::size_t open = round_up(inner, page), map_bytes = open + 2 * forbidden;
    void* map = mmap(nullptr, map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return nullptr;
    unsigned char* begin = static_cast<unsigned char*>(map);
    if (mprotect(begin + forbidden, open, PROT_READ | PROT_WRITE)) return nullptr;
    std::memset(begin + forbidden, unwritten, open);
    unsigned char* data = begin + forbidden + open - inner;
    allocations[reinterpret_cast<std::uintptr_t>(data)] = {bytes, begin, map_bytes, device};
    return data;
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
