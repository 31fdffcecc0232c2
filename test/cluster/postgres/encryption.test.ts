import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src/state/database/open-database.ts'
import { freePort } from '../../support/free-port.ts'
import { tempDir } from '../../support/temp.ts'
import { openedNode, ownServer } from '../support/nodes.ts'

test('the address says whether the connection is encrypted, and what the server must prove', async () => {
  const [own, other] = [certificate('localhost'), certificate('elsewhere')]
  const port = await freePort()
  await ownServer({ certificate: own, port, parameters: { ssl: 'on' } })
  const address = (query: string) => `postgres://ganglion@localhost:${port}/ganglion${query}`
  const isEncrypted = async (query: string) => {
    const { db } = await openedNode(address(query))
    const { rows } = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(db)
    return rows
  }
  expect(await isEncrypted('')).toEqual([{ ssl: false }])
  expect(await isEncrypted('?sslmode=disable')).toEqual([{ ssl: false }])
  expect(await isEncrypted('?sslmode=require')).toEqual([{ ssl: true }])
  expect(await isEncrypted(`?sslmode=verify-full&sslrootcert=${fileOf(own.cert)}`)).toEqual([{ ssl: true }])
  await expect(openDatabase(address('?sslmode=verify-full'))).rejects.toThrow(/self-signed/)
  await expect(openDatabase(address(`?sslmode=verify-full&sslrootcert=${fileOf(other.cert)}`))).rejects.toThrow(
    /self-signed/,
  )
  // The server proves who it is, but by another name.
  const byNumber = address(`?sslmode=verify-full&sslrootcert=${fileOf(own.cert)}`).replace('localhost', '127.0.0.1')
  await expect(openDatabase(byNumber)).rejects.toThrow(/IP/)
  expect(await openDatabase(byNumber.replace('verify-full', 'verify-ca')).then(({ close }) => close())).toBeUndefined()
})

/** A certificate that vouches for itself, and its key. */
function certificate(name: string): { cert: string; key: string } {
  const folder = tempDir()
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  execFileSync('openssl', ['req', '-x509', ...algorithm, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

function fileOf(text: string): string {
  const file = join(tempDir(), 'ca.pem')
  writeFileSync(file, text)
  return file
}
