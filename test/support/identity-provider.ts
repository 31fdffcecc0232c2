import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type AccountClaims } from 'oidc-provider'
import { z } from 'zod'

export type Account = {
  email?: string
  email_verified?: boolean
  name?: string
  groups?: string[]
  tid?: string
  /** Claims of the ID token that differ from those of the userinfo endpoint. */
  idToken?: Record<string, unknown>
}

export type TestProvider = {
  issuer: string
  /** Accounts by the name to sign in with, which is the subject, too. */
  accounts: Map<string, Account>
  /** Whether ID tokens get a signature of another key. */
  forges: boolean
  /** Signs in there as a browser would, and gives the URL that the browser is sent back to. */
  signIn(url: string, login: string): Promise<string>
  /** Begins like {@link signIn}, but the person goes back without signing in. */
  cancel(url: string): Promise<string>
  close(): Promise<void>
}

/** A real OpenID Connect provider on a local socket, with the client `ganglion` whose secret is `secret`. */
export async function startProvider(redirectUri: string): Promise<TestProvider> {
  const accounts = new Map<string, Account>()
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'ganglion', client_secret: 'secret', redirect_uris: [redirectUri] }],
    // Claims are in the ID token as well.
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'tid'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    pkce: { required: () => true },
    cookies: { keys: ['test'] },
    async findAccount(_, id) {
      const account = accounts.get(id)
      return account && { accountId: id, claims: async (use) => answerOf(id, account, use) }
    },
  })
  provider.use(async (context, next) => {
    await next()
    const { id_token: token } = z.looseObject({ id_token: z.string().optional() }).catch({}).parse(context.body)
    if (!known.forges || token === undefined) return
    const signed = token.slice(0, token.lastIndexOf('.'))
    const signature = sign('RSA-SHA256', Buffer.from(signed), foreignKey).toString('base64url')
    context.body = { ...context.body, id_token: `${signed}.${signature}` }
  })
  const handle = provider.callback()
  const known: TestProvider = {
    issuer,
    accounts,
    forges: false,
    async signIn(url, login) {
      const browser = jar(issuer)
      const atLogin = await browser.follow(url)
      const atConsent = await browser.follow(atLogin.url, { prompt: 'login', login, password: 'any' })
      return (await browser.follow(atConsent.url, { prompt: 'consent' })).url
    },
    async cancel(url) {
      const browser = jar(issuer)
      const { url: interaction } = await browser.follow(url)
      return (await browser.follow(`${interaction}/abort`)).url
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return known
}

const { privateKey: foreignKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

function answerOf(sub: string, { idToken, ...account }: Account, use: string): AccountClaims {
  return { sub, ...account, ...(use === 'id_token' && idToken) }
}

/** A browser that keeps the cookies of one origin. */
function jar(origin: string) {
  const cookies = new Map<string, string>()
  return {
    /** Goes where it is sent, until there is a page or the way leads to another origin. */
    async follow(from: string, form?: Record<string, string>): Promise<{ url: string }> {
      let url = from
      let body = form && new URLSearchParams(form)
      for (;;) {
        if (new URL(url).origin !== origin) return { url }
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const init = { headers: { cookie }, redirect: 'manual' as const }
        const answer = await fetch(url, body === undefined ? init : { ...init, method: 'POST', body })
        for (const set of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
          if (value === '') cookies.delete(name)
          else cookies.set(name, value)
        }
        await answer.arrayBuffer()
        const location = answer.headers.get('location')
        if (location === null) return { url }
        url = new URL(location, url).href
        body = undefined
      }
    },
  }
}
