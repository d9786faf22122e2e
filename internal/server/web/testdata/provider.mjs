// A real provider of OpenID Connect, whose people are who they say, with an address that it
// says it has verified: anna is in the group crowd. It prints its address.
import http from 'node:http'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const { default: Provider } = await import(pathToFileURL(createRequire(process.cwd() + '/').resolve('oidc-provider')))
const server = http.createServer()
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'throng', client_secret: 's3cret', redirect_uris: [process.argv[2]] }],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'], email: ['email', 'email_verified'] },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.org`, email_verified: true, groups: id === 'anna' ? ['crowd'] : [] }) }),
    pkce: { required: () => true },
  })
  server.on('request', provider.callback())
  console.log(issuer)
})
