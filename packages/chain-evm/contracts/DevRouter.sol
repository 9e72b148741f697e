// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IERC20 {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @notice A payment router for development chains. It emits the events of router version 0.8; its call is its own.
contract DevRouter {
    /// @notice The token address that stands for the chain's native token.
    address public constant NATIVE_TOKEN = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    /// @notice Fee of a payment with a memo, in basis points: 0.2 %.
    uint256 public constant FEE_BPS = 20;
    address public immutable treasury;

    event Yodl(
        address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32 memo
    );
    event YodlNativeTokenTransfer(address indexed sender, address indexed receiver, uint256 indexed amount);

    constructor(address treasury_) {
        treasury = treasury_;
    }

    /// @notice Pays `amount` of `token` to `receiver`, less the fee; a payment without a memo has no fee.
    /// @dev Bytes behind the arguments are ignored, so that a calldata suffix can name an integration.
    function pay(bytes32 memo, uint256 amount, address token, address receiver) external payable {
        require(amount != 0, "amount is zero");
        uint256 fees = memo == 0 ? 0 : (amount * FEE_BPS) / 10_000;
        if (token == NATIVE_TOKEN) {
            require(msg.value == amount, "value is not the amount");
            _send(receiver, amount - fees);
            if (fees != 0) _send(treasury, fees);
            emit YodlNativeTokenTransfer(msg.sender, receiver, amount - fees);
        } else {
            require(msg.value == 0, "value with a token payment");
            require(IERC20(token).transferFrom(msg.sender, receiver, amount - fees), "transfer failed");
            if (fees != 0) require(IERC20(token).transferFrom(msg.sender, treasury, fees), "fee transfer failed");
        }
        emit Yodl(msg.sender, receiver, token, amount, fees, memo);
    }

    function _send(address to, uint256 value) private {
        (bool sent,) = to.call{value: value}("");
        require(sent, "native transfer failed");
    }
}
