// Opens, accepts and closes connections to itself on loopback, and prints the CPU time of each slice of them, in ns per
// connection, one a line.
//
//   connects CONNECTIONS SLICE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void check(int result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long connections = atol(argv[1]), slice = atol(argv[2]);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&address, length), "bind");
    check(listen(listener, 16), "listen");
    check(getsockname(listener, (struct sockaddr *)&address, &length), "getsockname");
    for (long done = 0; done < connections; done += slice) {
        double from = cpu_ns();
        for (long i = 0; i < slice; i++) {
            int client = socket(AF_INET, SOCK_STREAM, 0);
            check(connect(client, (struct sockaddr *)&address, length), "connect");
            int server = accept(listener, NULL, NULL);
            check(server, "accept");
            close(client);
            close(server);
        }
        printf("%.0f\n", (cpu_ns() - from) / slice);
    }
}
