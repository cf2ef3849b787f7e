/* Random updates of a table, as the HPC Challenge benchmark RandomAccess makes them: t[r] ^= r for random r.
 *
 * usage: random-updates MEBIBYTES UPDATES
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    size_t words = (strtoul(argv[1], NULL, 10) << 20) / 8, updates = strtoul(argv[2], NULL, 10);
    uint64_t *table = calloc(words, 8);
    if (!table || words == 0)
        return 1;
    uint64_t state = 1;
    for (size_t i = 0; i < updates; i++) {
        /* The polynomial of the benchmark. */
        state = state << 1 ^ (state >> 63 ? 7 : 0);
        uint64_t mixed = state * 0x2545f4914f6cdd1d;
        table[(mixed >> 16) % words] ^= mixed;
    }
    printf("%016llx\n", (unsigned long long)table[(state >> 16) % words]);
    return 0;
}
