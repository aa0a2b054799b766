import StorageInterface
import Strata

/// What the manifest may set of Catalog.
struct CatalogSettings: ModuleSettings {
    static let defaults: JSON = ["catalog.status": "/var/lib/dpkg/status", "catalog.page": 20]

    /// The file that packages are imported from.
    var status: String
    /// The packages of a page where a caller doesn't say.
    var page: Int

    private enum CodingKeys: String, CodingKey {
        case status = "catalog.status"
        case page = "catalog.page"
    }

    func check() throws {
        guard 1...Storage.mostAtOnce ~= page else {
            throw ModuleError("Catalog.bad-page", "catalog.page is \(page): 1 to \(Storage.mostAtOnce)")
        }
    }
}
