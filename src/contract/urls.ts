/** URLs of the server's pages and resources. */
export class Urls {
  /** Public URL of the server without a final slash. Empty if it is unknown: URLs are then relative. */
  readonly base: string
  /** Path of {@link base}: empty at the root of its host. */
  readonly root: string

  constructor(base = '') {
    this.base = base.replace(/\/+$/, '')
    this.root = URL.parse(this.base)?.pathname.replace(/\/$/, '') ?? ''
  }

  /** Returns the URL of a page of the console, by its path. */
  page(path: string): string {
    return `${this.base}${path}`
  }

  /** Returns the URL of the page where a curator decides on a candidate. */
  candidate(candidateId: string): string {
    return `${this.base}/queue/${candidateId}`
  }

  /** Returns the URL of a one-time link. The token is in the query, because queries are not logged. */
  setUp(token: string): string {
    return `${this.base}/set-up?link=${token}`
  }

  /** Returns the endpoint for the webhooks that a forge sends for a link. */
  forgeEvents(linkId: string): string {
    return `${this.base}/forge/${linkId}/events`
  }

  /** Returns the redirect URL for an identity provider. */
  signInCallback(): string {
    return `${this.base}/sign-in/oidc/callback`
  }

  neuron(kbSlug: string, seqId: string): string {
    return `${this.base}/api/v1/neurons/${kbSlug}/${seqId}`
  }

  /** Returns the clone URL of a knowledge base. */
  clone(tenantSlug: string, kbSlug: string): string {
    return `${this.base}/git/${tenantSlug}/${kbSlug}.git`
  }

  file(kbSlug: string, path: string): string {
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return `${this.base}/api/v1/knowledge-bases/${kbSlug}/files/${encoded}`
  }
}
