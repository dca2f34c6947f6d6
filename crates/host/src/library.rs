//! How libgit2 is set up, once in a process and before it opens the first repository.

use std::sync::Once;

/// Sets libgit2 up. A repository that was opened before is not affected.
pub fn set_up() {
    static SET_UP: Once = Once::new();
    SET_UP.call_once(|| {
        // An object is hashed when it is stored, and git checks it when it is packed; to hash each again at each reading
        // costs more than all else.
        git2::opts::strict_hash_verification(false);
        // What a partial clone lacks is asked of git (`promised`); the rest of it is read like any other repository. A
        // name that cannot be registered leaves such a clone refused by name.
        #[expect(
            unsafe_code,
            reason = "the list is one static of libgit2; the Once makes this its only writer"
        )]
        let _registered = unsafe { git2::opts::set_extensions(&["partialclone"]) };
    });
}
