// Matrices of full blocks in compressed rows, in double precision.

#pragma once

#include "common/views.cuh"

struct BlocksView {
    unsigned n_rows;
    const unsigned* offsets; // [n_rows + 1]
    const unsigned* columns; // [n_blocks], ascending in a row
    const double* blocks;    // [n_blocks][column][row]
};

// Number of blocks; where there is none
#define NOWHERE 0xffffffffu

// Place of a block in its row
__device__ __forceinline__ unsigned place_of(const BlocksView& matrix, unsigned row, unsigned column) {
    unsigned begin = matrix.offsets[row], end = matrix.offsets[row + 1];
    while (begin < end) {
        const unsigned middle = begin + (end - begin) / 2;
        if (matrix.columns[middle] < column) begin = middle + 1;
        else end = middle;
    }
    return begin < matrix.offsets[row + 1] && matrix.columns[begin] == column ? begin : NOWHERE;
}
