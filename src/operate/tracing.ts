import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Context, Span, SpanKind } from '@opentelemetry/api'
import { type ObservedWork, requestWorks, works } from '../system/work.ts'
import { packageVersion } from './package-version.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Milliseconds that stopping waits for a collector. */
const patience = 2_000

/** Packages that must be installed next to Ganglion; see `peerDependencies`. */
const packages = ['api', 'core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace']
const install = `npm install ${packages.map((name) => `@opentelemetry/${name}`).join(' ')}`

/**
 * Sends spans for all events of {@link works} and {@link requestWorks} as configured by OpenTelemetry's variables; without them nothing is loaded.
 * @param warn called if traces cannot be sent; the server continues without them
 * @returns a function that stops it and sends what is left
 */
export async function startTracing(env: Variables, warn: (message: string) => void): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = env
  const isOff = env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none'
  if (isOff || !(own || all)) return async () => {}
  const modules = await load().catch((error: Error) => warn(`No traces are sent, see "${install}". ${error.message}`))
  if (!modules) return async () => {}
  const { api, core, exporter, resources, sdk } = modules
  const tell = (message: string, ...more: unknown[]) => warn(['OpenTelemetry:', message, ...more].join(' '))
  const silent = () => {}
  api.diag.setLogger({ error: tell, warn: tell, info: silent, debug: silent, verbose: silent }, api.DiagLogLevel.WARN)

  const ofServer = resources.resourceFromAttributes({ 'service.name': 'ganglion', 'service.version': packageVersion })
  const ofEnvironment = resources.detectResources({ detectors: [resources.envDetector] })
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(ofServer).merge(ofEnvironment),
    sampler: samplerOf(sdk, env),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new exporter.OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('ganglion', packageVersion)
  const propagator = new core.W3CTraceContextPropagator()
  const spans = new WeakMap<ObservedWork, Span>()
  const current = new AsyncLocalStorage<unknown>()
  const begin = (work: ObservedWork): Context => {
    const { name, kind, carrier, since } = work
    const outer = (current.getStore() as Context | undefined) ?? api.ROOT_CONTEXT
    const parent = carrier === undefined ? outer : propagator.extract(outer, carrier, api.defaultTextMapGetter)
    const kinds: Partial<Record<ObservedWork['kind'], SpanKind>> = {
      request: api.SpanKind.SERVER,
      model: api.SpanKind.CLIENT,
      job: api.SpanKind.CONSUMER,
    }
    const begun = since !== undefined && { startTime: new Date(performance.timeOrigin + since) }
    const span = tracer.startSpan(name, { kind: kinds[kind] ?? api.SpanKind.INTERNAL, ...begun }, parent)
    spans.set(work, span)
    return api.trace.setSpan(parent, span)
  }
  const ending = {
    asyncEnd(work: ObservedWork) {
      const span = spans.get(work)
      if (work.attributes !== undefined) span?.setAttributes(work.attributes)
      // The error's message is in the log; it may contain a user's text.
      const { error } = work
      if (error instanceof Error)
        span?.recordException({ name: error.name === 'Error' ? error.constructor.name : error.name })
      if (work.error !== undefined || work.hasFailed) span?.setStatus({ code: api.SpanStatusCode.ERROR })
      span?.end()
    },
  }
  for (const channel of [works, requestWorks]) {
    channel.start.bindStore(current, begin)
    channel.subscribe(ending)
  }
  return async () => {
    for (const channel of [works, requestWorks]) {
      channel.start.unbindStore(current)
      channel.unsubscribe(ending)
    }
    const sent = provider.shutdown().catch((error: Error) => warn(error.message))
    await Promise.race([sent, delay(patience, undefined, { ref: false })])
  }
}

async function load() {
  const [api, core, exporter, resources, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ])
  return { api, core, exporter, resources, sdk }
}

/** Returns a sampler of the specification; an unknown name means the default one. */
function samplerOf(sdk: typeof import('@opentelemetry/sdk-trace'), env: Variables) {
  const [, parentBased = '', name = ''] = /^(parentbased_)?(.*)$/.exec(env.OTEL_TRACES_SAMPLER ?? '') ?? []
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || 1)
  const samplers: Record<string, () => import('@opentelemetry/sdk-trace').Sampler> = {
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }
  const root = samplers[name]?.() ?? new sdk.AlwaysOnSampler()
  const isAlone = name !== '' && parentBased === ''
  return isAlone ? root : new sdk.ParentBasedSampler({ root })
}
