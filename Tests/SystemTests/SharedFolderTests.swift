import Testing

/// Tests that search the folders in `/tmp` for a user's buses, or have a bus there. They run one
/// after another.
@Suite(.serialized)
enum SharedFolderTests {}
