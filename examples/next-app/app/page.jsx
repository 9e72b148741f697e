export default function Page() {
  return <p>Notifications arrive at /webhook, and at /api/webhook of the pages router.</p>
}
