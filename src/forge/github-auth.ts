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
export function githubAuth(credential: ForgeCredential, context: Context) {
  let installation: number | undefined
  let made: Promise<{ token: string; expiresAt: number }> | undefined
  const isApp = 'appId' in credential
  const asApp = new ForgeHttp({
    ...context,
    authorize: async () => ({ authorization: `Bearer ${signedToken()}` }),
  })

  async function token(): Promise<string> {
    if ('token' in credential) return credential.token
    const kept = await made?.catch(() => undefined)
    if (kept !== undefined && kept.expiresAt - present().getTime() > minAccessMs) return kept.token
    made = makeToken()
    return (await made).token
  }

  /** Drops the token; the next request gets a new one. */
  function forget(): void {
    made = undefined
    installation = undefined
  }

  async function who(asToken: ForgeHttp) {
    if (!isApp) {
      const { login, name } = await asToken.get('/user', UserAnswer)
      return { id: login, name: name ?? login }
    }
    const app = await asApp.get('/app', AppAnswer)
    if (app === null) throw new ForgeError('refused', 'there is no such GitHub App')
    return { id: `${app.slug ?? app.name}[bot]`, name: app.name }
  }

  async function makeToken(): Promise<{ token: string; expiresAt: number }> {
    const { owner, repo } = context
    installation ??= (
      await asApp.get(`/repos/${owner}/${repo}/installation`, GithubInstallation).catch((error: unknown) => {
        if (!isForgeError(error, 'gone')) throw error
        const message = `the GitHub App is not installed on ${owner}/${repo}: install it there, or unlink the knowledge base`
        throw new ForgeError('refused', message, { cause: error })
      })
    ).id
    const path = `/app/installations/${installation}/access_tokens`
    const answer = await asApp.send('POST', path, { repositories: [repo] }, InstallationToken)
    return { token: answer.token, expiresAt: Date.parse(answer.expires_at) }
  }

  /** Returns a JSON Web Token (RFC 7519) signed by the App. @throws {ForgeError} `refused` if the key is invalid */
  function signedToken(): string {
    if ('token' in credential) throw new ForgeError('refused', 'a token is no GitHub App')
    const { appId, privateKey } = credential
    const now = Math.floor(present().getTime() / 1000)
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

  function present(): Date {
    return context.now?.() ?? new Date()
  }

  return { isApp, token, forget, who }
}
