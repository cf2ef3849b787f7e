/* The triad of the benchmark STREAM: a[i] = b[i] + s * c[i].
 *
 * usage: triad ELEMENTS
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    size_t n = strtoul(argv[1], NULL, 10);
    double *a = malloc(8 * n), *b = malloc(8 * n), *c = malloc(8 * n);
    if (n == 0 || !a || !b || !c)
        return 1;
    for (size_t i = 0; i < n; i++) {
        b[i] = 1.0;
        c[i] = 2.0;
    }
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3.0 * c[i];
    printf("%g\n", a[n - 1]);
    return 0;
}
