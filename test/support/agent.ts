import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'

type Information = ReturnType<OAuthClientProvider['clientInformation']>

/** Redirect URI of an agent; nobody listens there. */
export const agentCallback = 'http://127.0.0.1:8976/callback'

/** State of an agent between its visits to the authorization server. */
export class AgentKeeper implements OAuthClientProvider {
  readonly redirectUrl: string
  readonly clientMetadata: OAuthClientMetadata
  known: Awaited<Information>
  held: OAuthTokens | undefined
  verifier = ''
  /** URL that the person is sent to. */
  sentTo = ''

  constructor(callback = agentCallback) {
    this.redirectUrl = callback
    this.clientMetadata = {
      ...{ client_name: 'Test agent', redirect_uris: [callback], token_endpoint_auth_method: 'none' },
      ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    }
  }

  clientInformation() {
    return this.known
  }
  saveClientInformation(known: NonNullable<Awaited<Information>>) {
    this.known = known
  }
  tokens() {
    return this.held
  }
  saveTokens(tokens: OAuthTokens) {
    this.held = tokens
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url.href
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier
  }
  codeVerifier() {
    return this.verifier
  }
}

/** The transport of an agent that was sent to the authorization server. */
export async function askToConnect(url: string, keeper: AgentKeeper): Promise<StreamableHTTPClientTransport> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: keeper })
  await new Client({ name: 'test', version: '1' }).connect(transport).catch((error: unknown) => {
    if (!(error instanceof UnauthorizedError)) throw error
  })
  return transport
}

/** An agent that holds tokens, connected. */
export async function connectedAgent(url: string, keeper: AgentKeeper): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: keeper }))
  onTestFinished(() => client.close())
  return client
}
