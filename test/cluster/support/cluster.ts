import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { S3Options } from '../../../src/state/s3/s3-bucket.ts'
import { newDeployment } from '../../faults/support/deployment.ts'
import { s3Server } from '../../state/s3-server.ts'
import { freePort } from '../../support/free-port.ts'
import { environmentOf } from '../../support/new-database.ts'
import { PostgresServer } from '../../support/postgres.ts'
import { tempDir } from '../../support/temp.ts'
import { FaultyProxy } from './faulty-proxy.ts'
import { startLoadBalancer } from './load-balancer.ts'
import { Node } from './node.ts'
import { Swift } from './swift.ts'

type ClusterOptions = {
  /** Whether the store is a real one. Else it speaks S3 in this process. */
  isLong?: boolean
  /** Environment variables of each of three nodes besides the shared ones. */
  perNode: readonly Record<string, string>[]
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/**
 * Three nodes that serve one knowledge base, with a PostgreSQL and a store, for the running test. A load balancer sends each request to
 * whichever node is next, which is the worst for all of them.
 */
export async function startCluster({ isLong = false, perNode }: ClusterOptions) {
  const postgres = await PostgresServer.start({ durable: true })
  onTestFinished(() => postgres.remove())
  await postgres.run('create database ganglion')
  const database = postgres.address('ganglion')
  const bucket = await (isLong ? newBucket() : s3Server().then(({ options }) => options))
  const store = await FaultyProxy.before(bucket.endpoint)
  const env = environmentOf({ database, objects: { ...bucket, prefix: 'ganglion/', endpoint: store.url } })
  const deployment = { ...(await newDeployment(join(tempDir(), 'data'), env)), database }
  const newNode = async (more: Record<string, string> = {}) =>
    new Node(await freePort(), join(tempDir(), 'data'), { ...env, ...more })
  const nodes = await Promise.all(perNode.map(newNode))
  await Promise.all(nodes.map((node) => node.start()))
  const ports = nodes.map(({ port }) => port)
  const url = await startLoadBalancer('haproxy', ports, (text) => text.replace(/balance hash .*/, 'balance roundrobin'))
  return { postgres, store, env, deployment, nodes, url, newNode }
}

async function newBucket(): Promise<S3Options> {
  const swift = await Swift.start()
  onTestFinished(() => swift.remove())
  return swift.bucket('ganglion')
}
