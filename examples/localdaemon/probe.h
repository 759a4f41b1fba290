/* Small attempts to break out, for the smoke test. System calls only: one is made in a fork of the daemon
 * for the provider process, and by a copy of the daemon's program (`localdaemon --probe NAME ARGUMENT`)
 * inside the container. */
#ifndef LD_PROBE_H
#define LD_PROBE_H

/* Make the attempt. 0: it succeeded; an errno: it was denied; 255: no such attempt.
 *   read PATH         read a byte of a file
 *   tcp PORT          connect to 127.0.0.1
 *   gateway PORT      connect to the address at which QEMU's own network shows the host's 127.0.0.1
 *   socket -          make a UDP socket
 *   abstract NAME     connect to an abstract UNIX socket
 *   signal PID        may the process be signalled?
 *   keyctl -          ask for a keyring
 *   bpf -             make a map
 *   unshare -         reach unshare(2), with a flag that makes it fail by itself
 *   shm ID            attach a System V shared memory segment
 *   fork COUNT        have so many children at once
 *   memory BYTES      map so much memory
 *   touch BYTES       map so much memory, and use a byte of each 2 MiB
 *   write BYTES       make a file of one byte more
 */
int ld_probe(const char *name, const char *argument);

#endif
