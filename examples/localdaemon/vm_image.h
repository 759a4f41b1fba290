/* The image that virtual machines are booted from, as vm/image.sh builds it: a kernel, an initramfs, a read-only
 * system, and a manifest that names each by its SHA-256. The manifest's own digest is the image's identity. */
#ifndef LD_VM_IMAGE_H
#define LD_VM_IMAGE_H

#include "examples/localdaemon/sandbox.h"

#define LD_VM_KERNEL "vmlinux"
#define LD_VM_INITRAMFS "initramfs"
#define LD_VM_SYSTEM "system.squashfs"
#define LD_VM_BUILD "build it with: make vm-image"

typedef struct ld_vm_image {
    char folder[PATH_MAX]; /* absolute, without symbolic links */
    cs_digest digest;
} ld_vm_image;

/* Where image.sh puts the image that it made last, by the same rule as there. CS_UNCHECKED when there is no home. */
CS_MUST_CHECK cs_result ld_vm_image_default(char out[PATH_MAX], cs_error *err);

/* Read the image at `path` and check every part against its manifest, and that its node is the one at `node`: programs
 * must find the same one with every provider. CS_UNCHECKED when it is missing, changed, or open to others' changes. */
CS_MUST_CHECK cs_result ld_vm_image_open(const char *path, const char *node, ld_vm_image *out, cs_error *err);

#endif
