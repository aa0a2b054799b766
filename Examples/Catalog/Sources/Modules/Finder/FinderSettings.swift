import StorageInterface
import Strata

/// What the manifest may set of Finder.
struct FinderSettings: ModuleSettings {
    static let defaults: JSON = ["finder.page": 10]

    /// The packages of a page.
    var page: Int

    private enum CodingKeys: String, CodingKey {
        case page = "finder.page"
    }

    func check() throws {
        guard 1...Storage.mostAtOnce ~= page else {
            throw ModuleError("Finder.bad-page", "finder.page is \(page): 1 to \(Storage.mostAtOnce)")
        }
    }
}
