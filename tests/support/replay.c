/* Replay recorded calls of kernels through a library, and compare results and arrays.
 *
 *     replay LIBRARY CALLS
 *
 * `replay.py` records the calls and describes the format of the file. The program prints a line per kernel: its
 * name, the calls, the calls with a rounding difference, and the greatest relative difference of a 64-bit and of
 * a 32-bit floating-point number. It ends with 1 at the first call that differs otherwise.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER, DOUBLE, ARRAY, TUPLE };
enum { MOST_WORDS = 128, MOST_FLOATS = 8, RED_ZONE = 64, NO_ARRAY = 0xFFFFFFFF };
static const uint8_t RED = 0xA5;
/* The greatest relative difference that is rounding. */
static const double TOLERANCE_64 = 1e-12, TOLERANCE_32 = 1e-6;

typedef struct {
    uint8_t kind;                               /* NUMBER, DOUBLE, ARRAY or TUPLE */
    uint8_t size;                               /* of a tuple: its words; of an array: bytes of an item */
    uint8_t floats;                             /* of an array: the floating-point fields of an item */
    struct { uint8_t at, width; } field[MOST_FLOATS];
} Parameter;

typedef struct {
    char name[64];
    uint8_t returns;                            /* 'v', 'i', 'f', or the number of words of a tuple */
    uint8_t parameters;
    Parameter parameter[MOST_WORDS];
    void *code;
    uint64_t calls, rounded;
    double worst64, worst32;
} Kernel;

/* Memory that a call sees: what the library works on, and what the recording says it contains. */
typedef struct {
    uint8_t *block, *real, *expected;
    uint32_t size;
} Region;

static FILE *file;
static Kernel *kernels;
static Region *regions;
static uint32_t region_count;
static uint64_t call_number;

static void read_bytes(void *to, size_t size) {
    if (size && fread(to, 1, size, file) != size) {
        fprintf(stderr, "the recording is cut short at call %llu\n", (unsigned long long)call_number);
        exit(2);
    }
}

static uint8_t read_byte(void) { uint8_t got; read_bytes(&got, 1); return got; }
static uint32_t read_32(void) { uint32_t got; read_bytes(&got, 4); return got; }
static int64_t read_64(void) { int64_t got; read_bytes(&got, 8); return got; }

static void fail(const Kernel *kernel, const char *what) {
    fprintf(stderr, "%s, call %llu: %s\n", kernel->name, (unsigned long long)call_number, what);
    exit(1);
}

static void read_kernel(Kernel *kernel, void *library) {
    uint8_t size = read_byte();
    read_bytes(kernel->name, size);
    kernel->name[size] = 0;
    kernel->returns = read_byte();
    kernel->parameters = read_byte();
    for (int n = 0; n < kernel->parameters; n++) {
        Parameter *parameter = &kernel->parameter[n];
        parameter->kind = read_byte();
        parameter->size = read_byte();
        parameter->floats = read_byte();
        for (int field = 0; field < parameter->floats; field++) {
            parameter->field[field].at = read_byte();
            parameter->field[field].width = read_byte();
        }
    }
    char symbol[64];
    strcpy(symbol, kernel->name);
    *strchr(symbol, '.') = '_';
    kernel->code = dlsym(library, symbol);
    if (!kernel->code)
        fail(kernel, "the library lacks it");
}

/* Read the blocks of a region that changed, and write them to `also` too, unless it is null. */
static void read_changes(Region *region, uint8_t *also) {
    for (uint32_t left = read_32(); left; left--) {
        uint32_t at = read_32(), size = read_32();
        read_bytes(region->expected + at, size);
        if (also)
            memcpy(also + at, region->expected + at, size);
    }
}

/* Bring a region to the contents it had before the call. The library may rely on the alignment of an address. */
static void read_region(Region *region) {
    uint32_t size = read_32();
    uint8_t offset = read_byte();
    if (size != region->size || !region->block) {
        free(region->block);
        free(region->expected);
        region->size = size;
        region->real = NULL;
        region->block = malloc(size + 2 * RED_ZONE + 128);
        region->expected = calloc(size + 1, 1);
        memset(region->block, RED, size + 2 * RED_ZONE + 128);
    }
    uint8_t *real = region->block + RED_ZONE;
    real += (64 + offset - (uintptr_t)real % 64) % 64;
    if (real != region->real) {
        memset(region->block, RED, size + 2 * RED_ZONE + 128);
        region->real = real;
        memcpy(real, region->expected, size);
    }
    read_changes(region, real);
}

static double relative(double one, double other) {
    if (one == other || (isnan(one) && isnan(other)))
        return 0;
    double larger = fmax(fabs(one), fabs(other)), gap = fabs(one - other) / larger;
    return isnan(gap) ? INFINITY : gap;
}

/* Compare two floating-point numbers. Return whether they differ by rounding at most. */
static int alike(Kernel *kernel, const uint8_t *real, const uint8_t *expected, int width) {
    double gap, *worst = width == 8 ? &kernel->worst64 : &kernel->worst32;
    if (width == 8) {
        double one, other;
        memcpy(&one, real, 8);
        memcpy(&other, expected, 8);
        gap = relative(one, other);
    } else {
        float one, other;
        memcpy(&one, real, 4);
        memcpy(&other, expected, 4);
        gap = relative(one, other);
    }
    *worst = fmax(*worst, gap);
    return gap <= (width == 8 ? TOLERANCE_64 : TOLERANCE_32);
}

/* Compare an array with the recording. Return whether there is a rounding difference. */
static int compare(Kernel *kernel, const Parameter *parameter, uint8_t *real, uint8_t *expected, uint32_t size) {
    if (!memcmp(real, expected, size))
        return 0;
    uint8_t item[256];
    for (uint32_t at = 0; at + parameter->size <= size; at += parameter->size) {
        if (!memcmp(real + at, expected + at, parameter->size))
            continue;
        memcpy(item, real + at, parameter->size);
        for (int n = 0; n < parameter->floats; n++) {
            uint8_t place = parameter->field[n].at, width = parameter->field[n].width;
            if (!alike(kernel, item + place, expected + at + place, width))
                fail(kernel, "a floating-point number of an array differs by more than rounding");
            memcpy(item + place, expected + at + place, width);
        }
        if (memcmp(item, expected + at, parameter->size))
            fail(kernel, "an array differs");
    }
    return 1;
}

/* Each argument is in a register or on the stack by its class alone, in order, on every system that has kernels:
 * whole numbers and addresses as one sequence, floating-point numbers as another. Arguments past those that the
 * kernel takes are ignored. So one type of function calls every kernel. */
#define WORDS int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#define EIGHT(n) w[n], w[n + 1], w[n + 2], w[n + 3], w[n + 4], w[n + 5], w[n + 6], w[n + 7]
typedef int64_t Whole(WORDS, WORDS, WORDS, WORDS, double, double, double, double);
typedef double Real(WORDS, WORDS, WORDS, WORDS, double, double, double, double);

static void replay(Kernel *kernel) {
    static int64_t words[32], blocks[MOST_WORDS];
    static double doubles[4];
    static uint8_t *real[MOST_WORDS], *expected[MOST_WORDS];
    static uint32_t length[MOST_WORDS], used[MOST_WORDS];
    int64_t out[8] = {0};
    uint8_t several = kernel->returns < 'a' ? kernel->returns : 0, count = read_byte();
    for (int n = 0; n < count; n++) {
        used[n] = read_32();
        if (used[n] >= region_count) {
            regions = realloc(regions, (used[n] + 1) * sizeof *regions);
            memset(regions + region_count, 0, (used[n] + 1 - region_count) * sizeof *regions);
            region_count = used[n] + 1;
        }
        read_region(&regions[used[n]]);
    }
    int word = 0, floats = 0, block = 0, left = 0;  /* `left` words go into a block, not into arguments */
    if (several)
        words[word++] = (int64_t)(uintptr_t)out;
    for (int n = 0; n < kernel->parameters; n++) {
        Parameter *parameter = &kernel->parameter[n];
        if (parameter->kind == TUPLE) {
            words[word++] = (int64_t)(uintptr_t)&blocks[block];
            left = parameter->size;
            continue;
        }
        int64_t *to = left ? &blocks[block] : &words[word];
        int taken = 1;
        if (parameter->kind == DOUBLE) {
            read_bytes(&doubles[floats++], 8);
            taken = 0;
        } else if (parameter->kind == NUMBER) {
            to[0] = read_64();
        } else {
            uint32_t region = read_32(), at = read_32();
            length[n] = read_32();
            to[0] = 0;
            if (region != NO_ARRAY) {
                real[n] = regions[region].real + at;
                expected[n] = regions[region].expected + at;
                to[0] = (int64_t)(uintptr_t)real[n];
            }
            to[1] = read_64();
            taken = 2;
        }
        if (left) {
            block += taken;
            left -= taken;
        } else {
            word += taken;
        }
    }
    int64_t *w = words, whole = 0;
    double *d = doubles, number = 0;
    if (kernel->returns == 'f')
        number = ((Real *)kernel->code)(EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), d[0], d[1], d[2], d[3]);
    else
        whole = ((Whole *)kernel->code)(EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), d[0], d[1], d[2], d[3]);
    int rounded = 0;
    if (kernel->returns == 'i' && whole != read_64())
        fail(kernel, "it returns another number");
    if (kernel->returns == 'f') {
        double wanted;
        read_bytes(&wanted, 8);
        rounded |= memcmp(&number, &wanted, 8) != 0;
        if (!alike(kernel, (uint8_t *)&number, (uint8_t *)&wanted, 8))
            fail(kernel, "its result differs by more than rounding");
    }
    for (int n = 0; n < several; n++)
        if (out[n] != read_64())
            fail(kernel, "it returns other numbers");
    for (int n = 0; n < count; n++)
        read_changes(&regions[used[n]], NULL);
    for (int n = 0; n < kernel->parameters; n++)
        if (kernel->parameter[n].kind == ARRAY && length[n])
            rounded |= compare(kernel, &kernel->parameter[n], real[n], expected[n], length[n]);
    for (int n = 0; n < count; n++) {
        Region *region = &regions[used[n]];
        for (int at = 1; at <= RED_ZONE; at++)
            if (region->real[-at] != RED || region->real[region->size + at - 1] != RED)
                fail(kernel, "it wrote outside of an array");
        if (rounded)
            memcpy(region->real, region->expected, region->size);
    }
    kernel->calls++;
    kernel->rounded += rounded;
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: replay LIBRARY CALLS\n");
        return 2;
    }
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    file = fopen(words[2], "rb");
    if (!file) {
        perror(words[2]);
        return 2;
    }
    uint32_t size = read_32();
    kernels = calloc(size, sizeof *kernels);
    for (uint32_t n = 0; n < size; n++)
        read_kernel(&kernels[n], library);
    for (uint8_t kernel; (kernel = read_byte()) != 255; call_number++)
        replay(&kernels[kernel]);
    for (uint32_t n = 0; n < size; n++)
        printf("%s %llu %llu %.2g %.2g\n", kernels[n].name, (unsigned long long)kernels[n].calls,
               (unsigned long long)kernels[n].rounded, kernels[n].worst64, kernels[n].worst32);
    /* The library has no dependency of its own; these make the loader bring the mathematical functions. */
    volatile double one = 1;
    return log(one) + exp(one) + log1p(one) < 0;
}
