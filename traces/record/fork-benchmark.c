/* The fork benchmark of the RowClone paper (Seshadri et al., MICRO 2013, section 7.1): allocate S bytes, fill them with
 * random values, fork. The child updates a line of each of N random pages, and exits. The parent waits.
 *
 * usage: fork-benchmark MEBIBYTES PAGES [checksums]
 *
 * With `checksums`, the child prints each page that it updated, and a checksum of the page's contents.
 *
 * Build: cc -O2 -o fork-benchmark fork-benchmark.c
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, LINE = 64, WORDS = PAGE / 8 };

static uint64_t state = 0x9e3779b97f4a7c15;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled". */
static uint64_t random_number(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1d;
}

/* FNV-1a over the words of a page. */
static uint64_t checksum(const uint64_t *page)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (int i = 0; i < WORDS; i++)
        sum = (sum ^ page[i]) * 0x100000001b3;
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: fork-benchmark MEBIBYTES PAGES [checksums]\n");
        return 2;
    }
    size_t bytes = strtoul(argv[1], NULL, 10) << 20, updates = strtoul(argv[2], NULL, 10), pages = bytes / PAGE;
    if (updates > pages) {
        fprintf(stderr, "fork-benchmark: %zu MiB have %zu pages\n", bytes >> 20, pages);
        return 2;
    }
    uint64_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *order = malloc(pages * sizeof *order);
    if (memory == MAP_FAILED || !order) {
        perror("fork-benchmark");
        return 1;
    }
    for (size_t i = 0; i < bytes / 8; i++)
        memory[i] = random_number();
    /* The first N pages of a random order are different. */
    for (size_t i = 0; i < pages; i++)
        order[i] = i;
    for (size_t i = 0; i < updates; i++) {
        size_t other = i + random_number() % (pages - i);
        uint32_t page = order[other];
        order[other] = order[i];
        order[i] = page;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("fork-benchmark");
        return 1;
    }
    if (child == 0) {
        for (size_t i = 0; i < updates; i++) {
            uint64_t *line = memory + order[i] * WORDS + random_number() % (PAGE / LINE) * (LINE / 8);
            for (int word = 0; word < LINE / 8; word++)
                line[word] = random_number();
        }
        if (argc > 3)
            for (size_t i = 0; i < updates; i++) {
                uint64_t *page = memory + order[i] * WORDS;
                printf("%p %016" PRIx64 "\n", (void *)page, checksum(page));
            }
        return 0;
    }
    waitpid(child, NULL, 0);
    return 0;
}
