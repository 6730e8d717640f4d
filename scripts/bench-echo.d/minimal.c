// The least that a level-triggered epoll echo server can do: the mark that ours are held against, for comparison only.
// No totals, no options, no partial writes, no error handling beyond what a benchmark on loopback meets.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 4096, EVENTS = 512 };

int main(int count, char **arguments) {
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poller = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(arguments[1]) : 9988)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return perror("listen"), 1;
    struct epoll_event interest = {.events = EPOLLIN, .data.fd = listener}, ready[EVENTS];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &interest);
    printf("listening\n");
    fflush(stdout);
    for (;;) {
        int events = epoll_wait(poller, ready, EVENTS, -1);
        for (int at = 0; at < events; at++) {
            int socket = ready[at].data.fd;
            if (socket == listener) {
                int connection;
                while ((connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    interest.data.fd = connection;
                    epoll_ctl(poller, EPOLL_CTL_ADD, connection, &interest);
                }
                continue;
            }
            char buffer[BUFFER];
            ssize_t received = recv(socket, buffer, sizeof buffer, 0);
            if (received <= 0) close(socket);
            else send(socket, buffer, received, MSG_NOSIGNAL);
        }
    }
}
