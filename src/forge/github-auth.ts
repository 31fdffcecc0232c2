import { sign } from 'node:crypto'
import { z } from 'zod'
import type { ForgeCredential } from './adapter-helpers.ts'
import { ForgeError, isForgeError, minAccessMs } from './forge-adapter.ts'
import { ForgeHttp, type ForgeHttpOptions } from './forge-http.ts'

export const GithubInstallation = z.object({ id: z.number().int() })
export const InstallationToken = z.object({ token: z.string().min(1), expires_at: z.string() })
/** App without a slug, which the API description permits. */
export const AppAnswer = z.object({ slug: z.string().optional(), name: z.string() }).nullable()
export const UserAnswer = z.object({ login: z.string(), name: z.string().nullish() })

type Context = Pick<ForgeHttpOptions, 'apiUrl' | 'headers' | 'now' | 'timeoutMs'> & { owner: string; repo: string }

/** Tolerance for clock differences, in seconds. GitHub accepts at most ten minutes. */
const clockSkew = 60
const jwtLifetime = 540

/** Provides the token of requests: a given one, or an App's token for one repository, which is valid for an hour. */
export class GithubAuth {
  readonly isApp: boolean
  readonly #credential: ForgeCredential
  readonly #context: Context
  readonly #asApp: ForgeHttp
  #installation: number | undefined
  #token: Promise<{ token: string; expiresAt: number }> | undefined

  constructor(credential: ForgeCredential, context: Context) {
    this.#credential = credential
    this.#context = context
    this.isApp = 'appId' in credential
    this.#asApp = new ForgeHttp({
      ...context,
      authorize: async () => ({ authorization: `Bearer ${this.#jwt()}` }),
    })
  }

  async token(): Promise<string> {
    if ('token' in this.#credential) return this.#credential.token
    const kept = await this.#token?.catch(() => undefined)
    if (kept !== undefined && kept.expiresAt - this.#now().getTime() > minAccessMs) return kept.token
    this.#token = this.#makeToken()
    return (await this.#token).token
  }

  /** Drops the token; the next request gets a new one. */
  forget(): void {
    this.#token = undefined
    this.#installation = undefined
  }

  async who(asToken: ForgeHttp) {
    if (!this.isApp) {
      const { login, name } = await asToken.get('/user', UserAnswer)
      return { id: login, name: name ?? login }
    }
    const app = await this.#asApp.get('/app', AppAnswer)
    if (app === null) throw new ForgeError('refused', 'there is no such GitHub App')
    return { id: `${app.slug ?? app.name}[bot]`, name: app.name }
  }

  async #makeToken(): Promise<{ token: string; expiresAt: number }> {
    const { owner, repo } = this.#context
    this.#installation ??= (
      await this.#asApp.get(`/repos/${owner}/${repo}/installation`, GithubInstallation).catch((error: unknown) => {
        if (!isForgeError(error, 'gone')) throw error
        const message = `the GitHub App is not installed on ${owner}/${repo}: install it there, or unlink the knowledge base`
        throw new ForgeError('refused', message, { cause: error })
      })
    ).id
    const path = `/app/installations/${this.#installation}/access_tokens`
    const answer = await this.#asApp.send('POST', path, { repositories: [repo] }, InstallationToken)
    return { token: answer.token, expiresAt: Date.parse(answer.expires_at) }
  }

  /** Returns a JSON Web Token (RFC 7519) signed by the App. @throws {ForgeError} `refused` if the key is invalid */
  #jwt(): string {
    if ('token' in this.#credential) throw new ForgeError('refused', 'a token is no GitHub App')
    const { appId, privateKey } = this.#credential
    const now = Math.floor(this.#now().getTime() / 1000)
    const parts = [
      { alg: 'RS256', typ: 'JWT' },
      { iat: now - clockSkew, exp: now + jwtLifetime, iss: appId },
    ]
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    try {
      return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`
    } catch {
      // The cause is left out, since it might quote the key.
      throw new ForgeError('refused', 'the private key of the GitHub App cannot be read: it must be RSA, as PEM')
    }
  }

  #now(): Date {
    return this.#context.now?.() ?? new Date()
  }
}
