import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'

const execute = promisify(execFile)

/** Folder in which Debian's packages install the servers, one folder for each version. */
const debianRoot = '/usr/lib/postgresql'
/** Milliseconds for which a server that starts is waited for. */
const startTime = 30_000
/** Port in the name of a socket in the server's folder. */
const poolerPort = 6432

export type PostgresOptions = {
  /** Whether a commit is flushed to the disk. Slower; only where what is tested is durability. */
  durable?: boolean
  /** Parameters of the server, such as `{ max_connections: '20' }`. */
  parameters?: Readonly<Record<string, string>>
  /** Port on the loopback interface, besides the socket. */
  port?: number
  /** Certificate in PEM, for encrypted connections. */
  certificate?: { cert: string; key: string }
}

/** A PostgreSQL server that tests start and end, on a Unix socket in a temporary folder of its own. Unless asked to, it listens on no port. */
export class PostgresServer {
  readonly #folder: string
  readonly #port: number
  readonly #settings: string[]
  readonly #account = ordinaryAccount()
  #process: ChildProcess | undefined
  #pooler: ChildProcess | undefined

  private constructor(folder: string, { durable = false, parameters = {}, port }: PostgresOptions) {
    this.#folder = folder
    this.#port = port ?? 5432
    const all = {
      ...{
        listen_addresses: port === undefined ? '' : '127.0.0.1',
        unix_socket_directories: folder,
        max_connections: '200',
      },
      ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
      ...parameters,
    }
    this.#settings = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  }

  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'ganglion-pg-'))
    const server = new PostgresServer(folder, options)
    if (server.#account !== undefined) chownSync(folder, server.#account.uid, server.#account.gid)
    const args = [
      '--pgdata',
      server.#data,
      '--username',
      'ganglion',
      '--auth',
      'trust',
      '--encoding',
      'UTF8',
      '--no-sync',
    ]
    // Text is ordered as in a dictionary, as in most deployments: so whatever relies on the order of bytes shows.
    args.push('--locale', 'C.UTF-8', '--locale-provider', 'icu', '--icu-locale', 'en')
    await execute(programOf('initdb'), args, { ...server.#account, cwd: folder })
    if (options.certificate !== undefined) server.#certify(options.certificate)
    try {
      await server.begin()
    } catch (error) {
      await server.remove()
      throw error
    }
    return server
  }

  /** The address of one of its databases. */
  address(database: string): string {
    return `postgres://ganglion@localhost:${this.#port}/${database}?host=${encodeURIComponent(this.#folder)}`
  }

  /** Starts the server that was stopped or killed, and waits until it answers. */
  async begin(): Promise<void> {
    const args = ['-D', this.#data, '-p', String(this.#port), ...this.#settings]
    const child = spawn(programOf('postgres'), args, {
      ...this.#account,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process = child
    let said = ''
    child.stderr?.on('data', (bytes: Buffer) => {
      said = `${said}${bytes}`.slice(-4_000)
    })
    const deadline = Date.now() + startTime
    while (!(await this.#answers())) {
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not answer:\n${said}`)
      if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${said}`)
      await delay(20)
    }
  }

  /** `fast` ends connections, as a restart does; `kill` is a crash of the whole server. */
  async stop(how: 'fast' | 'kill' = 'fast'): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await exit
  }

  /** Runs one statement as its superuser. */
  async run(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new Client(this.address(database))
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** Starts a PgBouncer before the database `ganglion`, and returns its address. It ends with the server. */
  async pooler(mode: 'session' | 'transaction'): Promise<string> {
    const settings = [
      `[databases]\nganglion = host=${this.#folder} port=${this.#port} user=ganglion`,
      `[pgbouncer]\nlisten_port = ${poolerPort}\nunix_socket_dir = ${this.#folder}\nauth_type = any\npool_mode = ${mode}\n`,
    ]
    const file = join(this.#folder, 'pgbouncer.ini')
    writeFileSync(file, settings.join('\n'))
    this.#pooler = spawn('/usr/sbin/pgbouncer', [file], { ...this.#account, cwd: this.#folder, stdio: 'ignore' })
    await once(this.#pooler, 'spawn')
    const socket = join(this.#folder, `.s.PGSQL.${poolerPort}`)
    for (const deadline = Date.now() + startTime; !existsSync(socket); await delay(20)) {
      if (Date.now() > deadline) throw new Error('PgBouncer does not start.')
    }
    return this.address('ganglion').replace(`:${this.#port}/`, `:${poolerPort}/`)
  }

  async remove(): Promise<void> {
    this.#pooler?.kill('SIGKILL')
    await this.stop('kill')
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Writes the certificate under the names that the server expects. */
  #certify({ cert, key }: { cert: string; key: string }): void {
    for (const [name, text] of [
      ['server.crt', cert],
      ['server.key', key],
    ] as const) {
      const file = join(this.#data, name)
      writeFileSync(file, text, { mode: 0o600 })
      if (this.#account !== undefined) chownSync(file, this.#account.uid, this.#account.gid)
    }
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  async #answers(): Promise<boolean> {
    return this.run('select 1').then(
      () => true,
      () => false,
    )
  }
}

/** A program of PostgreSQL: from PATH, else the newest of Debian's packages. */
function programOf(name: string): string {
  const versions = folderOf(debianRoot).sort((a, b) => Number(b) - Number(a))
  const folders = [
    ...versions.map((version) => join(debianRoot, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const found = folders.map((folder) => join(folder, name)).find(isProgram)
  if (found === undefined) throw new Error(`There is no ${name}: install PostgreSQL (Debian's package postgresql).`)
  return found
}

function folderOf(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** PostgreSQL refuses to run as root: then it runs as another account. */
function ordinaryAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const account = ['postgres', 'nobody'].map((name) => accounts.find(([known]) => known === name)).find(Boolean)
  if (account === undefined) throw new Error('There is no account beside root that PostgreSQL could run as.')
  return { uid: Number(account[2]), gid: Number(account[3]) }
}
