/** Where the server's pages and resources are reached. */
export class Urls {
  /** Where people reach the server, without a slash at the end; empty where it does not know: URLs are relative then. */
  readonly base: string

  constructor(base = '') {
    this.base = base.replace(/\/+$/, '')
  }

  /** The page where a curator decides on a candidate. */
  candidate(candidateId: string): string {
    return `${this.base}/queue/${candidateId}`
  }

  /** The page that a one-time link opens. Its token is in the query, which no log holds. */
  setUp(token: string): string {
    return `${this.base}/set-up?link=${token}`
  }

  /** Where a forge sends the webhooks of a link to. */
  forgeEvents(linkId: string): string {
    return `${this.base}/forge/${linkId}/events`
  }

  /** Where an identity provider sends browsers back to. */
  signInCallback(): string {
    return `${this.base}/sign-in/oidc/callback`
  }

  neuron(kbSlug: string, seqId: string): string {
    return `${this.base}/api/v1/neurons/${kbSlug}/${seqId}`
  }

  /** Where a knowledge base's repository is cloned from. */
  clone(tenantSlug: string, kbSlug: string): string {
    return `${this.base}/git/${tenantSlug}/${kbSlug}.git`
  }

  file(kbSlug: string, path: string): string {
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return `${this.base}/api/v1/knowledge-bases/${kbSlug}/files/${encoded}`
  }
}
