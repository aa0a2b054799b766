import Testing

/// Tests that search the folders in `/tmp` where a user's apps have their buses,
/// or have one there: one at a time.
@Suite(.serialized)
enum SharedFolderTests {}
