import HTTPTypes
import Hummingbird

/// Applies the access rules to each request, and gives each response the headers that bind a browser.
struct AccessMiddleware: RouterMiddleware {
    typealias Context = PageContext

    /// No code, style or address but this server's own. Scripts can't make elements of text.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

    let rules: AccessRules

    func handle(
        _ request: Request, context: PageContext, next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            try rules.check(request.head)
            response = try await next(request, context)
        } catch let refusal as AccessRules.Refusal {
            response = .failure(refusal.status, refusal.message)
        } catch let error as HTTPError {
            response = .failure(error.status, error.body ?? error.status.reasonPhrase)
        }
        for (name, value) in [
            (HTTPField.Name.contentSecurityPolicy, Self.policy), (.xContentTypeOptions, "nosniff"),
            (.referrerPolicy, "no-referrer"), (.resourcePolicy, "same-origin"), (.openerPolicy, "same-origin"),
            (.cacheControl, "no-store"),
        ] { response.headers[name] = value }
        return response
    }
}

/// Demands the token. It belongs to the routes themselves, not to paths, which can be written in many ways.
struct TokenMiddleware: RouterMiddleware {
    typealias Context = PageContext

    let rules: AccessRules

    func handle(
        _ request: Request, context: PageContext, next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        try rules.checkToken(request.head)
        return try await next(request, context)
    }
}
