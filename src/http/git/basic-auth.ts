import { bearerToken, type Scheme } from '../access/auth.ts'

/** Basic authentication (RFC 7617), for which git asks the user for a password. A bearer token works as well. */
export const keyAsPassword: Scheme = {
  tokenOf: (authorization) => bearerToken(authorization) ?? passwordOf(authorization),
  challenge: 'Basic realm="Ganglion", charset="UTF-8"',
}

/** Returns the password, whoever the user is, or the user if there is no password. */
function passwordOf(authorization: string | undefined): string | undefined {
  const credentials = /^Basic +([A-Za-z0-9+/]{1,2048}={0,2})$/i.exec(authorization ?? '')?.[1]
  if (credentials === undefined) return undefined
  const [user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString('utf8'))?.slice(1) ?? []
  return bearerToken(`Bearer ${password || user}`)
}
