# Runs verify.rb over the vectors: ruby vectors/verifiers/check.rb vectors/signature.json
require 'json'
require_relative 'verify'

cases = JSON.parse(File.read(ARGV[0], encoding: 'UTF-8'))
wrong = cases.reject do |each|
  body = each['body'].unpack1('m')
  verdict = begin
    verify(each['secrets'], each['header'], body, each['nowMs'], each['toleranceSeconds'])
  rescue Rejected => rejection
    rejection.message
  end
  verdict == (each['expect'] == 'ok' ? each['secretIndex'] : each['expect'])
end
[[''], ['whsec_a', ' '], ["whsec_a\n"]].each do |unusable|
  verify(unusable, nil, '', 0)
  wrong << { 'name' => "unusable secrets are accepted: #{unusable}" }
rescue ArgumentError
  next
end
wrong.each { |each| puts each['name'] }
puts "#{cases.length} cases, #{wrong.length} wrong"
exit(wrong.empty? && !cases.empty?)
