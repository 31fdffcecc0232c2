/** Default policy: scripts, styles and images come from this server only, and no page may be framed. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join(';')

/** Returns the policy of a page on which styles with a nonce are allowed, too. */
export function policyWith(styleNonce: string): string {
  return `${contentSecurityPolicy};style-src 'self' 'nonce-${styleNonce}'`
}

/** Headers of every answer: those of Helmet, except `strict-transport-security`, since the proxy terminates TLS. */
export const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  // With `no-referrer`, browsers send `Origin: null` with the forms of our own pages.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
}
